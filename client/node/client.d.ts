/** Anything that goes wrong between this client and a service. */
export class SlotwiseError extends Error {
}
/** The service was not reached, or did not answer, or what answered is not slotwise. */
export class ServiceUnreachable extends SlotwiseError {
}
/** The service refused; `document` is the problem document (RFC 9457) that it answered with. */
export class ServiceProblem extends SlotwiseError {
    /**
     * @param {number} status
     * @param {Record<string, unknown>} document
     */
    constructor(status: number, document: Record<string, unknown>);
    status: number;
    document: Record<string, unknown>;
    /** What is wrong with each field, where the service said so. */
    get errors(): {
        field?: string;
        detail?: string;
    }[];
    /** The first field that something is wrong with. */
    get field(): string | null;
}
/**
 * Asks a service. One client is enough for a whole program.
 *
 * A request that fails is repeated up to `retries` times, after waits that double and vary at random, or as long as the
 * service asks, up to five seconds. Every decision has a key, so that asking again for one whose answer was lost makes no
 * second one. What cannot be repeated safely, which is deleting, retiring and changes at a version, is repeated only if
 * nothing can have been done: there was no connection, or the service said 429 or 503.
 */
export class Client {
    /**
     * @param {string} url where the service is, with the path that a proxy has it under
     * @param {Options} [options]
     */
    constructor(url: string, { key, timeoutMs, retries }?: Options);
    /** Where the service is. */
    get url(): string;
    /**
     * What to show to one visitor. With a `fallback`, a list of your own, it never throws because of the service: if
     * there is no decision to be had, the answer is that list, with `token` and `id` null and the `reason`.
     *
     * @overload
     * @param {string} placement
     * @param {Wish & { fallback: string[] }} wish
     * @returns {Promise<Decision | Fallback>}
     */
    decide(placement: string, wish: Wish & {
        fallback: string[];
    }): Promise<Decision | Fallback>;
    /**
     * @overload
     * @param {string} placement
     * @param {Wish} [wish]
     * @returns {Promise<Decision>}
     */
    decide(placement: string, wish?: Wish | undefined): Promise<Decision>;
    /**
     * Report what came of a decision; true if that was known before.
     *
     * About a fallback nothing is reported. A `ServiceProblem` of status 409 says that another outcome stands, 410 that the
     * deadline has passed; the latter can also be the answer to a repetition whose first try was recorded in time.
     *
     * @param {Decision | Fallback | string} decision
     * @param {Outcome} outcome
     * @returns {Promise<boolean>}
     */
    outcome(decision: Decision | Fallback | string, outcome: Outcome): Promise<boolean>;
    /**
     * A decision as it was made, and what has become of it; status 404 where there is none.
     * @param {string} id
     * @returns {Promise<DecisionRecord>}
     */
    decision(id: string): Promise<DecisionRecord>;
    /**
     * Create a placement, or replace all of it: what is left out gets its default, and no item stays.
     * @param {string} name
     * @param {Definition} definition
     * @param {AtVersion} [at]
     * @returns {Promise<Placement>}
     */
    putPlacement(name: string, definition: Definition, at?: AtVersion): Promise<Placement>;
    /**
     * Change the fields that are named, null being the default, and leave the others; a list replaces a list.
     * @param {string} name
     * @param {{ [Field in keyof Definition]?: Definition[Field] | null }} changes
     * @param {AtVersion} [at]
     * @returns {Promise<Placement>}
     */
    patchPlacement(name: string, changes: { [Field in keyof Definition]?: Definition[Field] | null; }, at?: AtVersion): Promise<Placement>;
    /**
     * Delete a placement for good, with its decisions, its tally and its counters.
     * @param {string} name
     * @param {AtVersion} [at]
     * @returns {Promise<void>}
     */
    deletePlacement(name: string, at?: AtVersion): Promise<void>;
    /**
     * Add an item, or replace what is said of one.
     * @param {string} placement
     * @param {string} item
     * @param {Omit<ItemSettings, "id">} [settings]
     * @param {AtVersion} [at]
     * @returns {Promise<ItemSettings>}
     */
    putItem(placement: string, item: string, settings?: Omit<ItemSettings, "id">, at?: AtVersion): Promise<ItemSettings>;
    /**
     * Show an item no more; what was learned of it stays. Status 404 where there is none.
     * @param {string} placement
     * @param {string} item
     * @param {AtVersion} [at]
     * @returns {Promise<ItemSettings>}
     */
    retireItem(placement: string, item: string, at?: AtVersion): Promise<ItemSettings>;
    /**
     * The version that a placement is at, for a change that must not undo another; 0 where there is none.
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
     * A placement as it was put.
     * @param {string} name
     * @returns {Promise<Placement>}
     */
    placement(name: string): Promise<Placement>;
    /**
     * What changed in a placement's definition and when, the newest first.
     * @param {string} name
     * @returns {Promise<Change[]>}
     */
    changes(name: string): Promise<Change[]>;
    /**
     * What is known of a placement's items and slots, and what became of its decisions, for all visitors or a segment.
     * The uplift is since the start, or between two times, or over a period as in 24h, 7d and 4w.
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
     * What happened to a placement by hour or by day, in UTC; by default in the last 7 or 90 days.
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
 * An item, what a click on it is worth, and what is known of it.
 */
export type ItemSettings = {
    id: string;
    value?: number;
    features?: Record<string, number | string>;
};
/**
 * An item in a placement: its id is enough.
 */
export type Item = string | ItemSettings;
/**
 * A placement: a named place on a page. What is left out has its default.
 */
export type Definition = {
    slots: number;
    items: Item[];
    /**
     * the default policy if null
     */
    policy?: string | null | undefined;
    /**
     * how long an outcome is waited for; 1,800
     */
    window_seconds?: number | {
        at_most: number;
        catch?: number;
    } | undefined;
    /**
     * the share of decisions that show the items as they are listed; 0
     */
    holdout?: number | undefined;
    /**
     * learned if null
     */
    position_bias?: number[] | null | undefined;
    /**
     * the values of a decision's `context` that are told apart
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
    mode?: "live" | "shadow" | undefined;
    /**
     * whether lists other than the best one are tried; true
     */
    exploring?: boolean | undefined;
    /**
     * items to the slots in which everybody sees them, counted from 1
     */
    pin?: Record<string, number> | undefined;
    /**
     * the share of slots for items of which nothing is known
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
 * What to show to one visitor, the first slot's item first.
 */
export type Decision = {
    id: string;
    placement: string;
    items: string[];
    arm: "learned" | "holdout" | "shadow";
    /**
     * until when its outcome counts
     */
    expires: string;
    /**
     * lets a browser report the outcome of this decision, and nothing else
     */
    token: string;
};
/**
 * A list of the caller's own, shown because the service gave none. There is nothing to report about it.
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
 * What a decision may be asked with.
 */
export type Wish = {
    /**
     * items to leave out
     */
    exclude?: string[] | undefined;
    /**
     * the slots of some items; they count from 1
     */
    pin?: Record<string, number> | undefined;
    /**
     * what is known of the visitor
     */
    context?: Record<string, string> | undefined;
    /**
     * who it is, where the placement is sticky
     */
    visitor?: string | undefined;
    /**
     * a name for this page view: the same key is the same decision; a new one if left out
     */
    key?: string | undefined;
};
/**
 * What came of a decision: a click, several in their order, none (`clicked: null`), or a list that nobody saw.
 */
export type Outcome = {
    clicked: string | string[] | null;
    value?: number;
} | {
    shown: false;
};
/**
 * A decision as it was made, and what has become of it.
 */
export type DecisionRecord = Omit<Decision, "token"> & {
    issued: string;
    final: boolean;
    outcome: "clicked" | "no_click" | "not_shown" | null;
    clicked: string[];
    value: number | null;
    propensities: number[] | null;
    context: Record<string, string>;
};
/**
 * What is known of a placement's items and slots; the service's own page `/docs` describes the rest of it.
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
 * The version that a placement has to be at for a change to be made; 0 where there must be none.
 */
export type AtVersion = {
    version?: number;
};
export type Options = {
    /**
     * the service's key
     */
    key?: string | undefined;
    /**
     * how long each try may take; 10,000
     */
    timeoutMs?: number | undefined;
    /**
     * how often a request is repeated; 4
     */
    retries?: number | undefined;
};
