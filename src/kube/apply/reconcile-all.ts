// SPDX-License-Identifier: Apache-2.0
import { LABEL_COMPONENT } from '#kube/resource/labels.ts';
import { KubeError } from '../client/kube-error.ts';
import { correction, planObject, type ObjectPlan } from './objects/plan-object.ts';
import { isGrant, withKeptRules } from './objects/kept-rules.ts';
import { STEPS, ruleOf, stepIndexOf } from './objects/kinds.ts';
import { titleOf, type ManagedObject } from './objects/managed-object.ts';
import { formerOwnerOf, isAdopted, marked, superfluous, type Owner } from './objects/mark.ts';
import { rolloutOf, type Rollout } from './objects/rollout.ts';
import type { ManagedWatches } from './watches.ts';
import type { ObjectWriter } from './writer.ts';

/** The inputs of one pass. */
export interface PassInit {
  /** All desired objects in any order, without the operator's marks. */
  readonly objects: readonly ManagedObject[];
  /**
   * Titles of objects that the pass may remove. Others may name the same owner, but the operator
   * did not create them.
   */
  readonly removable: ReadonlySet<string>;
  readonly owner: Owner;
  readonly writer: ObjectWriter;
  readonly watches: Pick<ManagedWatches, 'get' | 'written' | 'all'>;
  /** Fields that the API server restores itself, by UID and JSON pointer. Survives passes. */
  readonly accepted: Set<string>;
  /** Whether the installation of this version is still incomplete. */
  readonly installing: boolean;
  /**
   * The time until which the pass skips an object, by its title, in milliseconds of the local
   * clock. Undefined if it does not.
   */
  readonly heldUntil: (object: string) => number | undefined;
  /** Checked between two objects. */
  readonly signal: AbortSignal;
}

/** One write of a pass. */
export interface ObjectChange {
  readonly kind: 'made' | 'adopted' | 'restored' | 'corrected' | 'removed';
  /** The name by {@link titleOf}. */
  readonly object: string;
  /** JSON pointers of the corrected fields. */
  readonly paths: readonly string[];
  /** The former owner of an adopted object, such as `Helm release countersign`. */
  readonly from?: string;
}

/** The findings and actions of a pass. */
export interface PassReport {
  readonly changes: readonly ObjectChange[];
  /** Objects that are not as desired, each with the reason. The pass continued with the others. */
  readonly problems: readonly string[];
  /**
   * Objects that name the operator as their owner although it did not create them, such as copies.
   * The pass leaves them alone.
   */
  readonly unexpected: readonly ManagedObject[];
  /** The API server rejected a write, or a read failed: try again later. */
  readonly failed: boolean;
  /** The API server denied a read or a write. */
  readonly forbidden: boolean;
  /** Titles of the objects to create once the rollouts before them are done. */
  readonly waiting: readonly string[];
  /** Titles of the roles and bindings to narrow or remove once those rollouts are done. */
  readonly narrowing: readonly string[];
  readonly rollouts: readonly Rollout[];
  /**
   * The earliest time at which a skipped object may be reconciled again. Undefined if the pass
   * skipped none.
   */
  readonly heldUntil: number | undefined;
}

/** The last step that does not wait for the rollout of every Deployment. */
const AFTER_ROLLOUT = STEPS.indexOf('workloads');

/** The limit for one object in one pass: a correction, an apply, and a correction of its result. */
const MAX_WRITES = 3;

/**
 * Visits all objects in the order of {@link STEPS}, compares each, and writes the differences. A
 * failure of one stops no other.
 *
 * During an installation, objects of steps after the Deployments are created when those are rolled
 * out. Roles grow before the Deployments change. They shrink when no old pod is left that may use
 * the removed permissions.
 */
export async function reconcileAll(init: PassInit): Promise<PassReport> {
  const pass = new Pass(init);
  for (const object of init.objects.toSorted((a, b) => stepIndexOf(a) - stepIndexOf(b))) {
    if (init.signal.aborted) break;
    await pass.visit(object, stepIndexOf(object) > AFTER_ROLLOUT);
  }
  if (!init.signal.aborted) await pass.narrow();
  if (!init.signal.aborted) await pass.prune();
  return pass;
}

class Pass implements PassReport {
  readonly changes: ObjectChange[] = [];
  readonly problems: string[] = [];
  readonly unexpected: ManagedObject[] = [];
  readonly waiting: string[] = [];
  readonly narrowing: string[] = [];
  readonly rollouts: Rollout[] = [];
  failed = false;
  forbidden = false;
  heldUntil: number | undefined;
  readonly #init: PassInit;
  /** Roles that still have rules to be removed. */
  readonly #wide: ManagedObject[] = [];

  constructor(init: PassInit) {
    this.#init = init;
  }

  /** @param late - whether to create it only after all rollouts */
  async visit(object: ManagedObject, late: boolean): Promise<void> {
    const { owner, watches, writer } = this.#init;
    const desired = marked(object, owner);
    try {
      const live = watches.get(desired) ?? (await writer.read(desired));
      if (late && this.#waits(desired, live)) this.waiting.push(titleOf(desired));
      else if (this.#skipIfHeld(desired)) this.#observe(live);
      else if (await this.#grow(object, live)) this.#wide.push(object);
      else this.#observe(await this.#settle(desired, live));
    } catch (error) {
      this.#failedFor(titleOf(desired), error);
    }
  }

  /** Removes former permissions of roles once no old pod is left. */
  async narrow(): Promise<void> {
    const { owner, watches, writer } = this.#init;
    for (const object of this.#wide) {
      const desired = marked(object, owner);
      if (this.#mayBeInUse(object)) {
        this.narrowing.push(titleOf(desired));
        continue;
      }
      try {
        await this.#settle(desired, watches.get(desired) ?? (await writer.read(desired)));
      } catch (error) {
        this.#failedFor(titleOf(desired), error);
      }
    }
  }

  /** Deletes owned objects that are no longer desired, such as those of a disabled component. */
  async prune(): Promise<void> {
    const { objects, owner, watches, writer, removable } = this.#init;
    for (const each of superfluous(watches.all(), objects, owner)) {
      if (!removable.has(titleOf(each))) {
        // Every user can write the operator's UID into an object, and the operator's permissions
        // are limited by name.
        this.unexpected.push(each);
        continue;
      }
      if (isGrant(each) && this.#mayBeInUse(each)) {
        this.narrowing.push(titleOf(each));
        continue;
      }
      try {
        await writer.remove(each);
        this.changes.push({ kind: 'removed', object: titleOf(each), paths: [] });
      } catch (error) {
        this.#failedFor(titleOf(each), error);
      }
    }
  }

  /**
   * Gives a role what it lacks, and removes nothing yet.
   *
   * @returns whether it has something to lose. Also false if the operator may not grant both at
   *   once.
   */
  async #grow(object: ManagedObject, live: ManagedObject | undefined): Promise<boolean> {
    const wide = withKeptRules(object, live);
    if (wide === undefined) return false;
    try {
      await this.#settle(marked(wide, this.#init.owner), live);
      return true;
    } catch (error) {
      // The operator no longer holds the old permissions, but the new pods need theirs.
      if (error instanceof KubeError && error.status === 403) return false;
      throw error;
    }
  }

  /**
   * First removes what others added, then restores what is missing. In the response to that,
   * defaults may look foreign.
   */
  async #settle(
    desired: ManagedObject,
    live: ManagedObject | undefined,
  ): Promise<ManagedObject | undefined> {
    let now = live;
    for (let write = 0; write < MAX_WRITES; write += 1) {
      const plan = this.#planObject(desired, now);
      if (write === 0 && plan.problem !== undefined) this.problems.push(plan.problem);
      if (plan.action === 'none') break;
      now = await this.#write(plan, now);
    }
    return now;
  }

  /** @returns the object afterwards */
  async #write(
    plan: ObjectPlan,
    live: ManagedObject | undefined,
  ): Promise<ManagedObject | undefined> {
    const { action, desired, paths } = plan;
    if (live === undefined || action === 'create' || action === 'apply')
      return this.#apply(plan, live);
    if (action === 'correct') return this.#correct(plan, live);
    await this.#init.writer.remove(live);
    this.changes.push({ kind: 'corrected', object: titleOf(desired), paths });
    return undefined;
  }

  async #apply(plan: ObjectPlan, live: ManagedObject | undefined): Promise<ManagedObject> {
    const { desired, foreign = [] } = plan;
    let applied: ManagedObject;
    try {
      applied = await this.#written(this.#init.writer.apply(desired));
    } catch (error) {
      // The object is invalid with what others wrote: remove that first.
      const conflicts = error instanceof KubeError && error.status === 422 && foreign.length > 0;
      if (!conflicts || live === undefined) throw error;
      return this.#correct({ ...plan, paths: foreign }, live);
    }
    this.changes.push(this.#changeOf(plan, live));
    return applied;
  }

  async #correct(verdict: ObjectPlan, live: ManagedObject): Promise<ManagedObject> {
    const { desired, paths } = verdict;
    const operations = correction(desired, live);
    const answer = await this.#written(this.#init.writer.patch(desired, operations));
    const left = new Set(this.#planObject(desired, answer).paths);
    // A field that returns in the response is a default of the API server or of a mutating webhook.
    // Accept it, to avoid a loop.
    for (const path of paths.filter((each) => left.has(each)))
      this.#init.accepted.add(acceptedKey(live, path));
    const gone = paths.filter((each) => !left.has(each));
    if (gone.length > 0)
      this.changes.push({ kind: 'corrected', object: titleOf(desired), paths: gone });
    return answer;
  }

  #planObject(desired: ManagedObject, live: ManagedObject | undefined): ObjectPlan {
    const prefix = live === undefined ? '' : acceptedKey(live, '');
    const accepted = [...this.#init.accepted]
      .filter((each) => each.startsWith(prefix))
      .map((each) => each.slice(prefix.length));
    return planObject(desired, live, new Set(accepted));
  }

  async #written(writing: Promise<ManagedObject>): Promise<ManagedObject> {
    const answer = await writing;
    this.#init.watches.written(answer);
    return answer;
  }

  #changeOf({ desired, paths }: ObjectPlan, live: ManagedObject | undefined): ObjectChange {
    const object = titleOf(desired);
    if (live === undefined) return { kind: 'made', object, paths: [] };
    if (isAdopted(live, this.#init.owner)) return { kind: 'restored', object, paths };
    return { kind: 'adopted', object, paths, from: formerOwnerOf(live) };
  }

  /**
   * Holds back objects of later steps until the rollouts are done. Webhooks do not change before
   * either.
   */
  #waits(desired: ManagedObject, live: ManagedObject | undefined): boolean {
    const webhook = ruleOf(desired).step === 'webhooks';
    if (live !== undefined) return webhook && this.#isRollingOut();
    return this.#isRollingOut() || (webhook && !this.#isServed());
  }

  /**
   * Reports whether webhooks have a server. Without one, the API server rejects the requests that a
   * webhook intercepts.
   */
  #isServed(): boolean {
    return this.#areAllSeen() && this.rollouts.every(({ available }) => available);
  }

  /**
   * Reports whether an old pod may need what a role or binding grants: a pod of its component, or
   * any pod if it names no component. A disabled component delays nothing.
   */
  #mayBeInUse(grant: ManagedObject): boolean {
    const component = componentOf(grant);
    const users = this.#init.objects.filter(
      (each) =>
        each.kind === 'Deployment' && (component === undefined || componentOf(each) === component),
    );
    return users.some(
      ({ metadata }) =>
        this.rollouts.find(({ name }) => name === metadata.name)?.hasOldPods !== false,
    );
  }

  #areAllSeen(): boolean {
    const workloads = this.#init.objects.filter(({ kind }) => kind === 'Deployment');
    return this.rollouts.length === workloads.length;
  }

  /**
   * During an installation only. If an object of a complete installation is deleted, it returns at
   * once.
   */
  #isRollingOut(): boolean {
    return this.#init.installing && this.rollouts.some(({ done }) => !done);
  }

  /** Reports whether the pass skips the object for now, and notes when the first wait ends. */
  #skipIfHeld(object: ManagedObject): boolean {
    const until = this.#init.heldUntil(titleOf(object));
    if (until === undefined) return false;
    this.heldUntil = Math.min(this.heldUntil ?? Infinity, until);
    return true;
  }

  #observe(live: ManagedObject | undefined): void {
    const rollout = live && rolloutOf(live);
    if (rollout !== undefined) this.rollouts.push(rollout);
  }

  #failedFor(object: string, error: unknown): void {
    if (!(error instanceof KubeError)) throw error;
    this.failed = true;
    if (error.status === 403) this.forbidden = true;
    // Another writer was faster: the next pass compares again.
    if (error.code !== 'KUBE_CONFLICT') this.problems.push(`${object}: ${problemOf(error)}`);
  }
}

/**
 * Maximum length of the API server's message, and of the first item that it lists. RBAC lists every
 * missing rule.
 */
const MAX_REFUSAL = 512;
const MAX_FIRST_LISTED = 160;

/** Returns the API server's message on a write, shortened, with a remedy if one is known. */
function problemOf({ message }: KubeError): string {
  const [said = '', ...listed] = message.split('\n').filter((line) => line.trim() !== '');
  const [first] = listed;
  const list = first === undefined ? '' : ` ${cut(first, MAX_FIRST_LISTED)}`;
  const more = listed.length > 1 ? ` and ${listed.length - 1} more` : '';
  const remedy = GRANTS_MORE.test(message)
    ? '; the operator can only grant permissions that it holds: print the roles of the operator again and apply them'
    : '';
  return `${cut(said, MAX_REFUSAL)}${list}${more}${remedy}`;
}

/** k8s.io/kubernetes/pkg/registry/rbac/validation: ConfirmNoEscalation. */
const GRANTS_MORE = /is attempting to grant RBAC permissions not currently held/;

function cut(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length)}…` : text;
}

function componentOf({ metadata }: ManagedObject): string | undefined {
  return metadata.labels?.[LABEL_COMPONENT];
}

function acceptedKey({ metadata }: ManagedObject, path: string): string {
  return `${metadata.uid ?? ''} ${path}`;
}
