/**
 * Compiled and never run: what the client sends is what the service takes, and what the service answers is what the client
 * promises. `types.test.js` makes build/openapi.ts from the document of a running service.
 */

import type { paths } from "../build/openapi.js";
import type {
  Change,
  Client,
  Decision,
  DecisionRecord,
  Definition,
  Estimates,
  ItemSettings,
  Outcome,
  Placement,
  DecisionRequest,
} from "../client.js";

type Json<Part> = Part extends { content: { "application/json": infer Content } } ? Content : never;
type Body<Operation> = Operation extends { requestBody?: infer Given } ? Json<NonNullable<Given>> : never;
type Answer<Operation, Status extends number> = Operation extends { responses: { [At in Status]: infer Given } }
  ? Json<Given>
  : never;

/** Compiles only if `Given` may stand where `Wanted` is asked for, and is something. */
type Fits<Given, Wanted> = [Given] extends [never] ? false : [Given] extends [Wanted] ? true : false;
type Fields<Given> = Given extends unknown ? keyof Given : never;
/** Compiles only if `Given` has no field that `Wanted` does not know. */
type Known<Given, Wanted> = Fits<Fields<Given>, Fields<Wanted>>;
declare function holds<_ extends true>(): void;

type OnPlacement = paths["/v1/placements/{name}"];
type OnItem = paths["/v1/placements/{name}/items/{id}"];
type Decide = paths["/v1/placements/{name}/decisions"]["post"];
type Report = paths["/v1/decisions/{id}/outcome"]["put"];

// what is sent
holds<Fits<Definition, Body<OnPlacement["put"]>>>();
holds<Known<Definition, Body<OnPlacement["put"]>>>();
holds<Known<Parameters<Client["patchPlacement"]>[1], Body<OnPlacement["patch"]>>>();
holds<Fits<Parameters<Client["patchPlacement"]>[1], Body<OnPlacement["patch"]>>>();
holds<Fits<NonNullable<Parameters<Client["putItem"]>[2]>, Body<OnItem["put"]>>>();
holds<Known<ItemSettings, Exclude<NonNullable<Body<OnPlacement["put"]>["items"]>[number], string>>>();
holds<Fits<Omit<DecisionRequest, "key">, NonNullable<Body<Decide>>>>();
holds<Known<Omit<DecisionRequest, "key">, NonNullable<Body<Decide>>>>();
holds<Fits<Outcome, Body<Report>>>();
holds<Known<Outcome, Body<Report>>>();

// what is answered
// without `count` the answer is one decision
holds<Fits<Extract<Answer<Decide, 201>, { token: string }>, Decision>>();
holds<Fits<Extract<Answer<Decide, 200>, { token: string }>, Decision>>();
holds<Fits<Answer<Report, 200>, { duplicate: boolean }>>();
holds<Fits<Answer<OnPlacement["put"], 200>, Placement>>();
holds<Fits<Answer<OnPlacement["put"], 201>, Placement>>();
holds<Fits<Answer<OnPlacement["patch"], 200>, Placement>>();
holds<Fits<Answer<OnPlacement["get"], 200>, Placement>>();
holds<Fits<Answer<OnItem["put"], 200>, ItemSettings>>();
holds<Fits<Answer<OnItem["put"], 201>, ItemSettings>>();
holds<Fits<Answer<OnItem["delete"], 200>, ItemSettings>>();
holds<Fits<Answer<paths["/v1/placements"]["get"], 200>["placements"][number], Omit<Placement, "items">>>();
holds<Fits<Answer<paths["/v1/placements/{name}/changes"]["get"], 200>["changes"][number], Change>>();
holds<Fits<Answer<paths["/v1/decisions/{id}"]["get"], 200>, DecisionRecord>>();
holds<Fits<Answer<paths["/v1/placements/{name}/estimates"]["get"], 200>, Estimates>>();
holds<Fits<Answer<paths["/v1/placements/{name}/history"]["get"], 200>["changes"][number], Change>>();

// what is asked for in the address
type QueryOf<Operation> = Operation extends { parameters: { query?: infer Query } } ? NonNullable<Query> : never;
type Asked<Method extends "estimates" | "history"> = NonNullable<Parameters<Client[Method]>[1]>;
holds<Known<Asked<"estimates">, QueryOf<paths["/v1/placements/{name}/estimates"]["get"]>>>();
holds<Known<Asked<"history">, QueryOf<paths["/v1/placements/{name}/history"]["get"]>>>();
