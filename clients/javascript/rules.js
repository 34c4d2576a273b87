/** The rules of a desk, which its API key manages. */
import { Resource } from "./resources.js";
import { checkNames, ROOT, segment, targetOf } from "./targets.js";
export class Rules extends Resource {
    /** The rules, newest first; they run in the order of `position`. */
    list(options = {}) {
        return this.listRows(`${ROOT}/rules`, {}, options);
    }
    get(id) {
        return this.getData(pathOf(id));
    }
    /** Creates a rule, which is switched off unless `is_enabled` is true. */
    create(fields, options = {}) {
        return this.postFields(`${ROOT}/rules`, fields, options);
    }
    update(id, fields) {
        return this.patchFields(pathOf(id), fields, {});
    }
    /** Deletes a rule; what it has done stays. */
    delete(id) {
        return this.deleteAt(pathOf(id));
    }
    /** What a rule would have done lately. after: `next_after` of the part before. */
    dryRun(id, options = {}) {
        checkNames(options, ["after"]);
        const target = targetOf(`${pathOf(id)}/dry-run`, { after: options.after });
        return this.dataOf({ method: "GET", target });
    }
}
function pathOf(id) {
    return `${ROOT}/rules/${segment(id)}`;
}
