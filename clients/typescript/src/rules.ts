/** The rules of a desk, which its API key manages. */

import type { Pages } from "./pages.js";
import { type Done, type ListOptions, type PostOptions, Resource } from "./resources.js";
import { checkNames, ROOT, segment, targetOf } from "./targets.js";
import type * as types from "./types.js";

export class Rules extends Resource {
  /** The rules, newest first; they run in the order of `position`. */
  list(options: ListOptions = {}): Pages<types.Rule> {
    return this.listRows(`${ROOT}/rules`, {}, options);
  }

  get(id: string): Promise<types.Rule> {
    return this.getData(pathOf(id));
  }

  /** Creates a rule, which is switched off unless `is_enabled` is true. */
  create(fields: types.NewRule, options: PostOptions = {}): Promise<types.Rule> {
    return this.postFields(`${ROOT}/rules`, fields, options);
  }

  update(id: string, fields: types.RuleChange): Promise<types.Rule> {
    return this.patchFields(pathOf(id), fields, {});
  }

  /** Deletes a rule; what it has done stays. */
  delete(id: string): Promise<Done> {
    return this.deleteAt(pathOf(id));
  }

  /** What a rule would have done lately. after: `next_after` of the part before. */
  dryRun(id: string, options: { after?: number } = {}): Promise<types.DryRun> {
    checkNames(options, ["after"]);
    const target = targetOf(`${pathOf(id)}/dry-run`, { after: options.after });
    return this.dataOf({ method: "GET", target });
  }
}

function pathOf(id: string): string {
  return `${ROOT}/rules/${segment(id)}`;
}
