/** The base class of all errors of this client. */
export class SlotwiseError extends Error {
}
/** The service was not reached, did not answer, or the answer is not from slotwise. */
export class ServiceUnreachable extends SlotwiseError {
}
/** The service refused the request; `document` is its error response (RFC 9457). */
export class ServiceProblem extends SlotwiseError {
    /**
     * @param {number} status
     * @param {Record<string, unknown>} document
     */
    constructor(status: number, document: Record<string, unknown>);
    status: number;
    document: Record<string, unknown>;
    /** The faulty fields, if the service named them. */
    get errors(): {
        field?: string;
        detail?: string;
    }[];
    /** The first faulty field. */
    get field(): string | null;
}
/**
 * A client of one service. A program needs only one.
 *
 * A failed request is retried up to `retries` times, with exponential backoff and jitter, or after the time that the
 * service asks for, up to five seconds. Every decision request has an idempotency key, so a retry never makes a second
 * decision. Deleting, retiring and changes at a version are retried only if the first attempt changed nothing: no
 * connection was made, or the service answered 429 or 503.
 */
export class Client {
    /**
     * @param {string} url the address of the service, with a proxy's path if there is one
     * @param {Options} [options]
     */
    constructor(url: string, { key, timeoutMs, retries }?: Options);
    /** The address of the service. */
    get url(): string;
    /**
     * A list for one page view. With a `fallback` list it never throws because of the service: if the service gives no
     * decision, the result is that list, with `token` and `id` null and the `reason`.
     *
     * @overload
     * @param {string} placement
     * @param {DecisionRequest & { fallback: string[] }} request
     * @returns {Promise<Decision | Fallback>}
     */
    decide(placement: string, request: DecisionRequest & {
        fallback: string[];
    }): Promise<Decision | Fallback>;
    /**
     * @overload
     * @param {string} placement
     * @param {DecisionRequest} [request]
     * @returns {Promise<Decision>}
     */
    decide(placement: string, request?: DecisionRequest | undefined): Promise<Decision>;
    /**
     * Report the outcome of a decision; true if the same outcome was recorded before.
     *
     * A fallback reports nothing. A `ServiceProblem` of status 409 means that another outcome stands, 410 that the
     * deadline has passed; 410 can also answer a retry whose first attempt was recorded in time.
     *
     * @param {Decision | Fallback | string} decision
     * @param {Outcome} outcome
     * @returns {Promise<boolean>}
     */
    outcome(decision: Decision | Fallback | string, outcome: Outcome): Promise<boolean>;
    /**
     * Add events to a decision; true if all of them were recorded before.
     *
     * A fallback has no events. A `ServiceProblem` of status 409 means that an event of the same id has another name or
     * value, 410 that the placement's `reward_days` have passed.
     *
     * @param {Decision | Fallback | string} decision
     * @param {LaterEvent[]} events
     * @returns {Promise<boolean>}
     */
    addEvents(decision: Decision | Fallback | string, events: LaterEvent[]): Promise<boolean>;
    /**
     * A decision with its outcome so far; status 404 if there is none.
     * @param {string} id
     * @returns {Promise<DecisionRecord>}
     */
    decision(id: string): Promise<DecisionRecord>;
    /**
     * Create a placement, or replace it: omitted fields get their defaults, omitted items are retired.
     * @param {string} name
     * @param {Definition} definition
     * @param {AtVersion} [at]
     * @returns {Promise<Placement>}
     */
    putPlacement(name: string, definition: Definition, at?: AtVersion): Promise<Placement>;
    /**
     * Change the given fields and leave the others; null restores the default, and a list replaces a list.
     * @param {string} name
     * @param {{ [Field in keyof Definition]?: Definition[Field] | null }} changes
     * @param {AtVersion} [at]
     * @returns {Promise<Placement>}
     */
    patchPlacement(name: string, changes: { [Field in keyof Definition]?: Definition[Field] | null; }, at?: AtVersion): Promise<Placement>;
    /**
     * Delete a placement with its decisions, tally and counters. This cannot be undone.
     * @param {string} name
     * @param {AtVersion} [at]
     * @returns {Promise<void>}
     */
    deletePlacement(name: string, at?: AtVersion): Promise<void>;
    /**
     * Add an item, or replace its settings.
     * @param {string} placement
     * @param {string} item
     * @param {Omit<ItemSettings, "id">} [settings]
     * @param {AtVersion} [at]
     * @returns {Promise<ItemSettings>}
     */
    putItem(placement: string, item: string, settings?: Omit<ItemSettings, "id">, at?: AtVersion): Promise<ItemSettings>;
    /**
     * Stop showing an item; its counts stay. Status 404 if there is none.
     * @param {string} placement
     * @param {string} item
     * @param {AtVersion} [at]
     * @returns {Promise<ItemSettings>}
     */
    retireItem(placement: string, item: string, at?: AtVersion): Promise<ItemSettings>;
    /**
     * The version of a placement, for changes that must not overwrite others; 0 if it does not exist.
     * @param {string} name
     * @returns {Promise<number>}
     */
    version(name: string): Promise<number>;
    /**
     * Every placement, without its items.
     * @returns {Promise<Omit<Placement, "items">[]>}
     */
    placements(): Promise<Omit<Placement, "items">[]>;
    /**
     * The definition of a placement.
     * @param {string} name
     * @returns {Promise<Placement>}
     */
    placement(name: string): Promise<Placement>;
    /**
     * The changes of a placement's definition, the newest first.
     * @param {string} name
     * @returns {Promise<Change[]>}
     */
    changes(name: string): Promise<Change[]>;
    /**
     * The estimates of a placement's items and slots, and the counts of its decisions, for all visitors or a segment.
     * The uplift is since the start, between two times, or over a period such as 24h, 7d or 4w.
     * @param {string} placement
     * @param {{ segment?: Record<string, string>, since?: Date, until?: Date, period?: string }} [asked]
     * @returns {Promise<Estimates>}
     */
    estimates(placement: string, { segment, ...times }?: {
        segment?: Record<string, string>;
        since?: Date;
        until?: Date;
        period?: string;
    }): Promise<Estimates>;
    /**
     * The counts of a placement by hour or by day, in UTC; by default of the last 7 or 90 days.
     * @param {string} placement
     * @param {{ by?: "hour" | "day", since?: Date, until?: Date }} [asked]
     * @returns {Promise<{ periods: Record<string, unknown>[], changes: Change[], [field: string]: unknown }>}
     */
    history(placement: string, asked?: {
        by?: "hour" | "day";
        since?: Date;
        until?: Date;
    }): Promise<{
        periods: Record<string, unknown>[];
        changes: Change[];
        [field: string]: unknown;
    }>;
    #private;
}
/**
 * An item, the value of a click on it, and its features.
 */
export type ItemSettings = {
    id: string;
    value?: number;
    features?: Record<string, number | string>;
    name?: string;
    url?: string;
    image?: string;
};
/**
 * An item in a placement: its id is enough.
 */
export type Item = string | ItemSettings;
/**
 * An event whose rate in the learned arm must not fall below the holdout's by more than the part `worse_by`.
 */
export type Guardrail = {
    metric: string;
    event: string;
    worse_by: number;
    then?: "alert" | "control";
};
/**
 * A placement: a named place on a page. Omitted fields have their defaults.
 */
export type Definition = {
    slots: number;
    items: Item[];
    /**
     * the default policy if null
     */
    policy?: string | null | undefined;
    /**
     * seconds until a decision is final; 1,800
     */
    window_seconds?: number | {
        at_most: number;
        catch?: number;
    } | undefined;
    /**
     * the share of decisions that show the control order; 0
     */
    holdout?: number | undefined;
    /**
     * learned if null
     */
    position_bias?: number[] | null | undefined;
    /**
     * the values of a decision's `context` that form segments
     */
    segments?: Record<string, string[]> | undefined;
    /**
     * hours after which a count weighs half as much; null if counts keep their weight
     */
    half_life?: number | "auto" | null | undefined;
    /**
     * whether the value of a click is learned
     */
    values?: "learned" | null | undefined;
    /**
     * named events and what each is worth; "value" for its value
     */
    reward?: Record<string, number | "value"> | null | undefined;
    /**
     * days in which events of a decision are accepted; 0
     */
    reward_days?: number | undefined;
    /**
     * events whose rate per view is compared with the holdout's
     */
    guardrails?: Guardrail[] | undefined;
    /**
     * webhook for signed alerts
     */
    alert_url?: string | null | undefined;
    mode?: "live" | "shadow" | "held" | undefined;
    /**
     * whether lists other than the best one are tried; true
     */
    exploring?: boolean | undefined;
    /**
     * the slot of each pinned item, counted from 1
     */
    pin?: Record<string, number> | undefined;
    /**
     * cold-start cap: the share of slots for items with no counted outcome
     */
    new_items_at_most?: number | null | undefined;
    /**
     * how long a visitor sees the same list
     */
    sticky_seconds?: number | null | undefined;
};
/**
 * A placement as the service has it.
 */
export type Placement = Required<Pick<Definition, "slots" | "items">> & Definition & {
    name: string;
};
/**
 * A list for one page view, the item of the first slot first.
 */
export type Decision = {
    id: string;
    placement: string;
    items: string[];
    arm: "learned" | "holdout" | "shadow";
    /**
     * the deadline of its outcome
     */
    expires: string;
    /**
     * lets a browser report the outcome of this decision, and nothing else
     */
    token: string;
};
/**
 * The caller's fallback list, used because the service gave none. It has no outcome to report.
 */
export type Fallback = {
    id: null;
    placement: string;
    items: string[];
    arm: "fallback";
    expires: null;
    token: null;
    /**
     * why the service gave no list
     */
    reason: SlotwiseError;
};
/**
 * A candidate with features, for a placement with `max_items`.
 */
export type Candidate = {
    id: string;
    features?: Record<string, string | number>;
};
/**
 * The options of a decision request.
 */
export type DecisionRequest = {
    /**
     * items to leave out
     */
    exclude?: string[] | undefined;
    /**
     * the slot of each pinned item, counted from 1
     */
    pin?: Record<string, number> | undefined;
    /**
     * the only items that may be shown
     */
    candidates?: (string | Candidate)[] | undefined;
    /**
     * the visitor's context, by key
     */
    context?: Record<string, string> | undefined;
    /**
     * an id of the visitor, for sticky lists and caps
     */
    visitor?: string | undefined;
    /**
     * the visitor's IP address, for caps
     */
    address?: string | undefined;
    /**
     * idempotency key: the same key returns the same decision; random if omitted
     */
    key?: string | undefined;
};
/**
 * An event of a placement's `reward`, such as a purchase.
 */
export type Event = {
    name: string;
    value?: number;
};
/**
 * An event after the outcome, with an id of your choice: the same id twice is one event.
 */
export type LaterEvent = Event & {
    event_id: string;
};
/**
 * The outcome of a decision: a click, several in order, none (`clicked: null`), or a list that was not shown.
 */
export type Outcome = {
    clicked: string | string[] | null;
    value?: number;
    events?: Event[];
} | {
    shown: false;
};
/**
 * A decision with its outcome so far.
 */
export type DecisionRecord = Omit<Decision, "token"> & {
    issued: string;
    final: boolean;
    outcome: "clicked" | "no_click" | "not_shown" | null;
    clicked: string[];
    value: number | null;
    events: {
        name: string;
        value: number | null;
        event_id: string | null;
    }[];
    propensities: number[] | null;
    context: Record<string, string>;
};
/**
 * The estimates of a placement's items and slots. The HTTP reference describes the other fields.
 */
export type Estimates = {
    items: {
        id: string;
        attractiveness: number;
        low: number;
        high: number;
        probability_in_best_list: number;
        shown: number;
        clicks: number;
    }[];
    position_bias: {
        slot: number;
        estimate: number;
        low: number;
        high: number;
    }[];
    tally: {
        items: string[];
        clicks: number[][];
        passes: number[][];
    };
    decisions: {
        issued: number;
        final: number;
        pending: number;
        clicked: number;
        no_click: number;
        not_shown: number;
        late: number;
    };
    [field: string]: unknown;
};
/**
 * A change of a placement's definition.
 */
export type Change = {
    version: number;
    time: string;
    [field: string]: unknown;
};
/**
 * The version that a placement must have for a change to be applied; 0 if it must not exist.
 */
export type AtVersion = {
    version?: number;
};
export type Options = {
    /**
     * the API key
     */
    key?: string | undefined;
    /**
     * time limit of each attempt, in milliseconds; 10,000
     */
    timeoutMs?: number | undefined;
    /**
     * maximum number of retries; 4
     */
    retries?: number | undefined;
};
