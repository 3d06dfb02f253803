// SPDX-License-Identifier: Apache-2.0
import { KubeError } from '../kube/client/kube-error.ts';
import { correction, judge, type Judgement } from './objects/judge.ts';
import { STEPS, ruleOf } from './objects/kinds.ts';
import { titleOf, type ManagedObject } from './objects/managed-object.ts';
import { isMarked, marked, type Owner } from './objects/mark.ts';
import { rolloutOf, type Rollout } from './objects/rollout.ts';
import type { ManagedWatches } from './watches.ts';
import type { ObjectWriter } from './writer.ts';

/** What one pass works with. */
export interface PassInit {
  /** All that is desired, in any order, without our marks. */
  readonly objects: readonly ManagedObject[];
  readonly owner: Owner;
  readonly writer: ObjectWriter;
  readonly watches: Pick<ManagedWatches, 'get' | 'written' | 'all'>;
  /** Survives passes: what the API server puts back itself, by UID and JSON pointer. */
  readonly accepted: Set<string>;
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
  /** The API server did not take a write, or a read failed: try again later. */
  readonly failed: boolean;
  /** A read or write was forbidden. */
  readonly forbidden: boolean;
  /** Titles of the objects that are made once the rollouts before them are done. */
  readonly waiting: readonly string[];
  readonly rollouts: readonly Rollout[];
}

/** The steps after which nothing new is made until every Deployment is rolled out. */
const AFTER_ROLLOUT = STEPS.indexOf('workloads');

/**
 * Goes over all objects in the order of {@link STEPS}: compares each, and writes what differs. A failure of one stops no
 * other. What is there in later steps is kept while Deployments roll out; what is not there yet waits for them.
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
  readonly waiting: string[] = [];
  readonly rollouts: Rollout[] = [];
  failed = false;
  forbidden = false;
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
      const held = late && live === undefined && this.rollouts.some(({ done }) => !done);
      if (held) this.waiting.push(titleOf(desired));
      else this.#observe(await this.#settle(desired, live));
    } catch (error) {
      this.#failedFor(titleOf(desired), error);
    }
  }

  /** Deletes what we own and is no longer desired, such as the objects of a component that was left out. */
  async prune(): Promise<void> {
    const { objects, owner, watches, writer } = this.#init;
    const wanted = new Set(objects.map(titleOf));
    const isOurs = ({ metadata }: ManagedObject): boolean =>
      metadata.deletionTimestamp === undefined &&
      metadata.ownerReferences?.some(({ uid }) => uid === owner.uid) === true;
    for (const each of watches.all().filter(isOurs)) {
      if (wanted.has(titleOf(each))) continue;
      try {
        await writer.remove(each);
        this.changes.push({ kind: 'removed', object: titleOf(each), paths: [] });
      } catch (error) {
        this.#failedFor(titleOf(each), error);
      }
    }
  }

  async #settle(
    desired: ManagedObject,
    live: ManagedObject | undefined,
  ): Promise<ManagedObject | undefined> {
    const verdict = this.#judge(desired, live);
    if (verdict.problem !== undefined) this.problems.push(verdict.problem);
    if (verdict.action === 'leave') return live;
    if (verdict.action === 'correct') return live && this.#correct(verdict, live);
    const applied = await this.#write(this.#init.writer.apply(verdict.desired));
    this.changes.push(this.#changeOf(verdict, live));
    // Apply never takes away what others added.
    const again = this.#judge(desired, applied);
    return again.action === 'correct' ? this.#correct(again, applied) : applied;
  }

  async #correct(verdict: Judgement, live: ManagedObject): Promise<ManagedObject> {
    const { desired, paths } = verdict;
    const operations = correction(desired, live);
    const answer = await this.#write(this.#init.writer.patch(desired, operations));
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

  async #write(writing: Promise<ManagedObject>): Promise<ManagedObject> {
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

  #observe(live: ManagedObject | undefined): void {
    const rollout = live && rolloutOf(live);
    if (rollout !== undefined) this.rollouts.push(rollout);
  }

  #failedFor(object: string, error: unknown): void {
    if (!(error instanceof KubeError)) throw error;
    this.failed = true;
    if (error.status === 403) this.forbidden = true;
    // Somebody else wrote meanwhile: the next pass compares anew.
    if (error.code !== 'KUBE_CONFLICT') this.problems.push(`${object}: ${error.message}`);
  }
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
