// SPDX-License-Identifier: Apache-2.0
import { KubeError } from '../kube/client/kube-error.ts';
import { correction, judge, type Judgement } from './objects/judge.ts';
import { STEPS, ruleOf } from './objects/kinds.ts';
import { titleOf, type ManagedObject } from './objects/managed-object.ts';
import { isMarked, marked, superfluous, type Owner } from './objects/mark.ts';
import { rolloutOf, type Rollout } from './objects/rollout.ts';
import type { ManagedWatches } from './watches.ts';
import type { ObjectWriter } from './writer.ts';

/** What one pass works with. */
export interface PassInit {
  /** All that is desired, in any order, without our marks. */
  readonly objects: readonly ManagedObject[];
  /** Titles of what may have to be removed: other objects are somebody else's, whatever owner they name. */
  readonly removable: ReadonlySet<string>;
  readonly owner: Owner;
  readonly writer: ObjectWriter;
  readonly watches: Pick<ManagedWatches, 'get' | 'written' | 'all'>;
  /** Survives passes: what the API server puts back itself, by UID and JSON pointer. */
  readonly accepted: Set<string>;
  /** Whether this version is not completely installed yet. */
  readonly installing: boolean;
  /** Until when an object is left alone, by its title, in milliseconds of our clock; undefined: it is not. */
  readonly heldUntil: (object: string) => number | undefined;
  /** Checked between two objects. */
  readonly signal: AbortSignal;
}

/** One write of a pass. */
export interface ObjectChange {
  readonly kind: 'made' | 'adopted' | 'restored' | 'corrected' | 'removed';
  /** As {@link titleOf} names it. */
  readonly object: string;
  /** What was put right, as JSON pointers. */
  readonly paths: readonly string[];
  /** Of an adopted object: who had it, such as `Helm release countersign`. */
  readonly from?: string;
}

/** What a pass found and did. */
export interface PassReport {
  readonly changes: readonly ObjectChange[];
  /** What is not as it is desired, each with its object and the reason; the other objects went on. */
  readonly problems: readonly string[];
  /** Objects that name our owner and are not ours, such as copies: they are left alone. */
  readonly strangers: readonly ManagedObject[];
  /** The API server did not take a write, or a read failed: try again later. */
  readonly failed: boolean;
  /** A read or write was forbidden. */
  readonly forbidden: boolean;
  /** Titles of the objects that are made once the rollouts before them are done. */
  readonly waiting: readonly string[];
  readonly rollouts: readonly Rollout[];
  /** When the first of the objects that were left alone may be looked at again; undefined: none was. */
  readonly heldUntil: number | undefined;
}

/** The steps after which nothing new is made until every Deployment is rolled out. */
const AFTER_ROLLOUT = STEPS.indexOf('workloads');

/** Of one object in one pass: a correction, an apply, and a correction of what that brought. */
const MAX_WRITES = 3;

/**
 * Goes over all objects in the order of {@link STEPS}: compares each, and writes what differs. A failure of one stops no
 * other. While a version is being installed, what comes after the Deployments is made when those are rolled out.
 */
export async function runPass(init: PassInit): Promise<PassReport> {
  const pass = new Pass(init);
  const rank = (object: ManagedObject): number => STEPS.indexOf(ruleOf(object).step);
  for (const object of init.objects.toSorted((a, b) => rank(a) - rank(b))) {
    if (init.signal.aborted) break;
    await pass.visit(object, rank(object) > AFTER_ROLLOUT);
  }
  if (!init.signal.aborted) await pass.prune();
  return pass;
}

class Pass implements PassReport {
  readonly changes: ObjectChange[] = [];
  readonly problems: string[] = [];
  readonly strangers: ManagedObject[] = [];
  readonly waiting: string[] = [];
  readonly rollouts: Rollout[] = [];
  failed = false;
  forbidden = false;
  heldUntil: number | undefined;
  readonly #init: PassInit;

  constructor(init: PassInit) {
    this.#init = init;
  }

  /** @param late - whether it is made only when nothing rolls out any more */
  async visit(object: ManagedObject, late: boolean): Promise<void> {
    const { owner, watches, writer } = this.#init;
    const desired = marked(object, owner);
    try {
      const live = watches.get(desired) ?? (await writer.read(desired));
      if (late && this.#waits(desired, live)) this.waiting.push(titleOf(desired));
      else if (this.#isHeld(desired)) this.#observe(live);
      else this.#observe(await this.#settle(desired, live));
    } catch (error) {
      this.#failedFor(titleOf(desired), error);
    }
  }

  /** Deletes what we own and is no longer desired, such as the objects of a component that was left out. */
  async prune(): Promise<void> {
    const { objects, owner, watches, writer, removable } = this.#init;
    for (const each of superfluous(watches.all(), objects, owner)) {
      if (!removable.has(titleOf(each))) {
        // Anybody can write our owner's UID into an object, and our permissions have names.
        this.strangers.push(each);
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

  /** First what is foreign goes, then what is missing comes; in the answer to that, defaults may look foreign. */
  async #settle(
    desired: ManagedObject,
    live: ManagedObject | undefined,
  ): Promise<ManagedObject | undefined> {
    let now = live;
    for (let write = 0; write < MAX_WRITES; write += 1) {
      const judgement = this.#judge(desired, now);
      if (write === 0 && judgement.problem !== undefined) this.problems.push(judgement.problem);
      if (judgement.action === 'leave') break;
      now = await this.#write(judgement, now);
    }
    return now;
  }

  /** @returns what is there afterwards */
  async #write(
    judgement: Judgement,
    live: ManagedObject | undefined,
  ): Promise<ManagedObject | undefined> {
    const { action, desired, paths } = judgement;
    if (live === undefined || action === 'make' || action === 'apply')
      return this.#apply(judgement, live);
    if (action === 'correct') return this.#correct(judgement, live);
    await this.#init.writer.remove(live);
    this.changes.push({ kind: 'corrected', object: titleOf(desired), paths });
    return undefined;
  }

  async #apply(judgement: Judgement, live: ManagedObject | undefined): Promise<ManagedObject> {
    const applied = await this.#written(this.#init.writer.apply(judgement.desired));
    this.changes.push(this.#changeOf(judgement, live));
    return applied;
  }

  async #correct(verdict: Judgement, live: ManagedObject): Promise<ManagedObject> {
    const { desired, paths } = verdict;
    const operations = correction(desired, live);
    const answer = await this.#written(this.#init.writer.patch(desired, operations));
    const left = new Set(this.#judge(desired, answer).paths);
    // What comes back in the answer is the API server's own default, or that of a mutating webhook: no loop over it.
    for (const path of paths.filter((each) => left.has(each)))
      this.#init.accepted.add(acceptedKey(live, path));
    const gone = paths.filter((each) => !left.has(each));
    if (gone.length > 0)
      this.changes.push({ kind: 'corrected', object: titleOf(desired), paths: gone });
    return answer;
  }

  #judge(desired: ManagedObject, live: ManagedObject | undefined): Judgement {
    const prefix = live === undefined ? '' : acceptedKey(live, '');
    const accepted = [...this.#init.accepted]
      .filter((each) => each.startsWith(prefix))
      .map((each) => each.slice(prefix.length));
    return judge(desired, live, new Set(accepted));
  }

  async #written(writing: Promise<ManagedObject>): Promise<ManagedObject> {
    const answer = await writing;
    this.#init.watches.written(answer);
    return answer;
  }

  #changeOf({ desired, paths }: Judgement, live: ManagedObject | undefined): ObjectChange {
    const object = titleOf(desired);
    if (live === undefined) return { kind: 'made', object, paths: [] };
    if (isMarked(live, this.#init.owner.label)) return { kind: 'restored', object, paths };
    return { kind: 'adopted', object, paths, from: formerOwnerOf(live) };
  }

  /** What comes after the rollouts is made when they are done; webhooks are not changed before either. */
  #waits(desired: ManagedObject, live: ManagedObject | undefined): boolean {
    const webhook = ruleOf(desired).step === 'webhooks';
    if (live !== undefined) return webhook && this.#isRollingOut();
    return this.#isRollingOut() || (webhook && !this.#isServed());
  }

  /** Where nobody answers a webhook, the API server refuses what it is asked about. */
  #isServed(): boolean {
    const workloads = this.#init.objects.filter(({ kind }) => kind === 'Deployment');
    return (
      this.rollouts.length === workloads.length && this.rollouts.every(({ available }) => available)
    );
  }

  /** An object that goes missing in an installation that was complete comes back at once. */
  #isRollingOut(): boolean {
    return this.#init.installing && this.rollouts.some(({ done }) => !done);
  }

  #isHeld(object: ManagedObject): boolean {
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
    // Somebody else wrote meanwhile: the next pass compares anew.
    if (error.code !== 'KUBE_CONFLICT') this.problems.push(`${object}: ${problemOf(error)}`);
  }
}

/** Characters of what the API server says, and of the first thing that it lists: RBAC lists every rule that is missing. */
const MAX_REFUSAL = 512;
const MAX_FIRST_LISTED = 160;

/** What the API server said of a write, so short that it can be read, and what to do where that is known. */
function problemOf({ message }: KubeError): string {
  const [said = '', ...listed] = message.split('\n').filter((line) => line.trim() !== '');
  const [first] = listed;
  const list = first === undefined ? '' : ` ${cut(first, MAX_FIRST_LISTED)}`;
  const more = listed.length > 1 ? ` and ${listed.length - 1} more` : '';
  const remedy = GRANTS_MORE.test(message)
    ? '; nobody grants what they do not hold: print the roles of the operator again and apply them'
    : '';
  return `${cut(said, MAX_REFUSAL)}${list}${more}${remedy}`;
}

/** k8s.io/kubernetes/pkg/registry/rbac/validation: ConfirmNoEscalation. */
const GRANTS_MORE = /is attempting to grant RBAC permissions not currently held/;

function cut(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length)}…` : text;
}

function acceptedKey({ metadata }: ManagedObject, path: string): string {
  return `${metadata.uid ?? ''} ${path}`;
}

/** Who installed it, by what Helm and kubectl leave on an object. */
function formerOwnerOf({ metadata }: ManagedObject): string {
  const { annotations = {} } = metadata;
  const release = annotations['meta.helm.sh/release-name'];
  if (release !== undefined) return `Helm release ${release}`;
  const byKubectl = 'kubectl.kubernetes.io/last-applied-configuration' in annotations;
  return byKubectl ? 'kubectl apply' : 'somebody else';
}
