/** The rules of a desk, which its API key manages. */
import type { Pages } from "./pages.js";
import { type Done, type ListOptions, type PostOptions, Resource } from "./resources.js";
import type * as types from "./types.js";
export declare class Rules extends Resource {
    /** The rules, newest first; they run in the order of `position`. */
    list(options?: ListOptions): Pages<types.Rule>;
    get(id: string): Promise<types.Rule>;
    /** Creates a rule, which is switched off unless `is_enabled` is true. */
    create(fields: types.NewRule, options?: PostOptions): Promise<types.Rule>;
    update(id: string, fields: types.RuleChange): Promise<types.Rule>;
    /** Deletes a rule; what it has done stays. */
    delete(id: string): Promise<Done>;
    /** What a rule would have done lately. after: `next_after` of the part before. */
    dryRun(id: string, options?: {
        after?: number;
    }): Promise<types.DryRun>;
}
