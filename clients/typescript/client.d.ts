// Made by `npm run types` from client.js, ca7e1d610976457eb62722ef6e2698e3b6e3d8561ff9f1961fdb6cdcefd1d9a6
/** An answer that is not the one asked for: its HTTP status, the server's word for it, and its line. */
export class ServerError extends Error {
    /** @param {number} status @param {string} code @param {string} message @param {string} [requestId] */
    constructor(status: number, code: string, message: string, requestId?: string);
    status: number;
    code: string;
    requestId: string | undefined;
}
/** Edits questions on a server. */
export class Client {
    /** @param {string | URL} [address] A proxy's path may follow the host. @param {ClientOptions} [options] */
    constructor(address?: string | URL, { apiKey, timeoutMs, retries }?: ClientOptions);
    /**
     * Returns the conversational form of a question.
     * @param {Item} item @param {CallOptions} [options] @returns {Promise<Result>}
     */
    simplify(item: Item, options?: CallOptions): Promise<Result>;
    /**
     * Returns the self-contained form of a question: the way back.
     * @param {ResolveItem} item @param {CallOptions} [options] @returns {Promise<Result>}
     */
    resolve(item: ResolveItem, options?: CallOptions): Promise<Result>;
    /**
     * Returns one result or failure an item, in order; they go a few dozen a request, one after the other.
     * @param {Iterable<Item>} items @param {ManyOptions} [options] @returns {Promise<(Result | ItemFailure)[]>}
     */
    batch(items: Iterable<Item>, options?: ManyOptions): Promise<(Result | ItemFailure)[]>;
    /**
     * Returns one result or failure for each of `questions` after one dialogue, in order, a few dozen a request.
     * @param {Candidates} candidates @param {ManyOptions} [options] @returns {Promise<(Result | ItemFailure)[]>}
     */
    many({ questions, ...shared }: Candidates, options?: ManyOptions): Promise<(Result | ItemFailure)[]>;
    /** Returns what the server says of its model and limits. @param {CallOptions} [options] @returns {Promise<Model>} */
    model(options?: CallOptions): Promise<Model>;
    #private;
}
export type Schemas = import("./schema.js").components["schemas"];
/**
 * A question, the dialogue before it, and how to edit.
 */
export type Item = Schemas["Item"] | Schemas["Chat"];
/**
 * Several questions after one dialogue, and how to edit.
 */
export type Candidates = Schemas["Candidates"];
/**
 * The same for a conversational question.
 */
export type ResolveItem = Schemas["ResolveItem"] | Schemas["ResolveChat"];
/**
 * What became of a question.
 */
export type Result = Schemas["Result"];
/**
 * What stands in a batch for a question that the server fails on.
 */
export type ItemFailure = Schemas["ItemFailure"];
/**
 * The server's model and limits.
 */
export type Model = Schemas["ModelOut"];
export type ClientOptions = {
    /**
     * The server's key, where it has one.
     */
    apiKey?: string | undefined;
    /**
     * How long one try may take; 60,000 by default.
     */
    timeoutMs?: number | undefined;
    /**
     * How often a request is tried again; 4 by default.
     */
    retries?: number | undefined;
};
/**
 * The signal ends the call, its retries too, with the signal's reason.
 */
export type CallOptions = {
    signal?: AbortSignal;
};
/**
 * The direction is "simplify" by default.
 */
export type ManyOptions = CallOptions & {
    direction?: "simplify" | "resolve";
};
