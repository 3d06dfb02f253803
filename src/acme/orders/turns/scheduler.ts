// SPDX-License-Identifier: Apache-2.0
import { LineUp, type Group, type Line, type Schedulable, type TenantSigner } from './line-up.ts';
import { NameTurns } from './name-turns.ts';

/** One name and type, which one Order at a time may run. */
interface Lock {
  /** Lines with waiting groups, by namespace and signer. */
  readonly lines: Map<string, Line>;
  /** Running groups. Several only if more were adopted than the limit allows. */
  readonly running: Set<Group>;
  readonly turns: NameTurns;
}

/**
 * Decides which Challenges run, within a number of slots. Namespaces take turns, and a freed slot
 * is used at once. Two Challenges never share a name and type, except a wildcard and its base name
 * in one Order. A Challenge without progress yields after its turn, if another waits for its name
 * or slot.
 */
export class ChallengeScheduler {
  readonly #slots: number;
  readonly #lineUp: LineUp;
  /** Groups by Order, name, and type. */
  readonly #groups = new Map<string, Group>();
  readonly #groupOf = new Map<string, Group>();
  readonly #locks = new Map<string, Lock>();
  readonly #running = new Set<Group>();
  /** Running groups with a Challenge that does not run yet. */
  readonly #joining = new Set<Group>();
  #used = 0;

  /**
   * @param slots - Challenges of all signers together
   * @param onStep - called for each comparison, so that tests count the work of a decision
   */
  constructor(slots: number, onStep: () => void = () => undefined) {
    this.#slots = slots;
    this.#lineUp = new LineUp(onStep);
  }

  /** Slots in use. */
  get used(): number {
    return this.#used;
  }

  /** Limits the slots of a signer. Undefined: the signer no longer exists. */
  limit(name: string, slots: number | undefined): void {
    this.#lineUp.limit(name, slots);
  }

  /**
   * Adds a waiting Challenge. If its Order already runs that name and type, it joins before others.
   */
  add(challenge: Schedulable): void {
    if (this.#groupOf.has(challenge.id)) return;
    const group = this.#groupFor(challenge);
    const line = group.running.size > 0 ? undefined : this.#lineOf(group);
    if (line !== undefined) this.#lineUp.lift(line);
    group.waiting.set(challenge.id, challenge);
    if (line === undefined) this.#joining.add(group);
    else this.#enqueue(group, line);
  }

  /**
   * Adds a Challenge that had a slot before this process started, even beyond the limit. Starts its
   * turn.
   */
  adopt(challenge: Schedulable, now: number): void {
    if (this.#groupOf.has(challenge.id)) return;
    const group = this.#groupFor(challenge);
    if (group.running.size === 0) this.#occupy(group, now);
    group.running.add(challenge.id);
    if (group.waiting.size > 0) this.#joining.add(group);
    this.#use(group, 1);
  }

  /**
   * Starts Challenges and returns them. Returns none without a free slot or a Challenge that may
   * have it.
   */
  next(now: number): readonly Schedulable[] {
    const free = this.#slots - this.#used;
    if (free <= 0) return [];
    const joined = [...this.#joining].find((each) => !each.isYielding && roomOf(each) > 0);
    const first = this.#lineUp.peek();
    const group = joined ?? (first && this.#nextAtName(first));
    if (group === undefined) return [];
    const started = [...group.waiting.values()].slice(0, Math.min(free, roomOf(group)));
    if (joined === undefined) this.#occupy(group, now);
    for (const { id } of started) {
      group.running.add(id);
      group.waiting.delete(id);
    }
    if (group.waiting.size > 0) this.#joining.add(group);
    else this.#joining.delete(group);
    this.#use(group, started.length);
    return started;
  }

  /**
   * Returns the Challenges that must yield: their turn is over, and another waits for their name or
   * a slot. After the clean-up the caller removes each, and may add it again.
   */
  yields(now: number): readonly string[] {
    const over = [...this.#running]
      .filter((each) => !each.isYielding && this.#endOf(each) <= now)
      .sort((a, b) => b.flow.namespace.used - a.flow.namespace.used || a.startedAt - b.startedAt);
    return over.flatMap((group) => {
      if (!this.#isContended(group)) return [];
      group.isYielding = true;
      return [...group.running];
    });
  }

  /**
   * When `yields` is worth another call, or undefined until something changes. A group whose turn
   * is over already yields once a change gives another group a claim.
   */
  wakeAt(now: number): number | undefined {
    const ends = [...this.#running]
      .filter((each) => !each.isYielding && this.#isWaitedFor(each))
      .map((each) => this.#endOf(each))
      .filter((end) => end > now);
    return ends.length === 0 ? undefined : Math.min(...ends);
  }

  /** Restarts the turn of a Challenge that made progress. */
  gotOn(id: string, now: number): void {
    const group = this.#groupOf.get(id);
    if (group?.running.has(id) === true && !group.isYielding) group.startedAt = now;
  }

  /** Removes a Challenge that ended, yielded, or was deleted. Frees its slot. */
  remove(id: string): void {
    const group = this.#groupOf.get(id);
    if (group === undefined) return;
    this.#groupOf.delete(id);
    if (group.running.delete(id)) {
      this.#use(group, -1);
      if (group.running.size === 0) this.#release(group);
    } else this.#removeWaiting(group, id);
    if (group.waiting.size > 0 || group.running.size > 0) return;
    this.#groups.delete(`${group.order} ${group.key}`);
    group.flow.groups -= 1;
    this.#lineUp.prune(group.flow);
    this.#forget(group.key);
  }

  #removeWaiting(group: Group, id: string): void {
    const line = group.running.size > 0 ? undefined : this.#lineOf(group);
    if (line !== undefined) this.#lineUp.lift(line);
    group.waiting.delete(id);
    if (group.waiting.size === 0) this.#joining.delete(group);
    if (line !== undefined) this.#enqueue(group, line);
  }

  #use(group: Group, difference: number): void {
    this.#used += difference;
    this.#lineUp.use(group.flow, difference);
  }

  /** Gives the group its name and type. */
  #occupy(group: Group, now: number): void {
    const lock = this.#lock(group.key);
    const line = lock.lines.get(idOf(group));
    if (line !== undefined) {
      this.#lineUp.lift(line);
      line.groups.delete(group);
      this.#drop(lock, line);
    }
    lock.turns.begin(group.flow.namespace.name);
    lock.running.add(group);
    this.#running.add(group);
    group.startedAt = now;
    this.#placeAll(lock);
  }

  #release(group: Group): void {
    const lock = this.#lock(group.key);
    lock.running.delete(group);
    this.#running.delete(group);
    this.#joining.delete(group);
    group.isYielding = false;
    // Its other Challenges wait for a slot again.
    if (group.waiting.size > 0) this.#enqueue(group, this.#lineOf(group));
    this.#placeAll(lock);
  }

  /** Puts a group into its lifted line by its current age. Takes it out if nothing in it waits. */
  #enqueue(group: Group, line: Line): void {
    const lock = this.#lock(group.key);
    if (line.isPlaced) this.#lineUp.lift(line);
    line.groups.delete(group);
    if (group.waiting.size > 0) {
      group.since = Math.min(...[...group.waiting.values()].map(({ createdAt }) => createdAt));
      line.groups.set(group);
    }
    this.#drop(lock, line);
    this.#placeAll(lock);
  }

  /** Deletes an empty line. */
  #drop({ lines }: Lock, line: Line): void {
    if (line.groups.size === 0) lines.delete(idOf(line));
  }

  /** Places the lines of a free name, and lifts those of a used one. */
  #placeAll({ lines, running }: Lock): void {
    const isFree = running.size === 0;
    for (const line of lines.values()) {
      if (line.isPlaced && !isFree) this.#lineUp.lift(line);
      else if (isFree && !line.isPlaced) this.#lineUp.place(line);
    }
  }

  /**
   * Returns the first group of the line that is next at the name of `group`. The candidates are the
   * lines whose signer has room, and the line of `group`. The one in the earliest round is next.
   */
  #nextAtName(group: Group): Group | undefined {
    const { lines, turns } = this.#lock(group.key);
    const roundOf = (line: Line): number => turns.roundOf(line.flow.namespace.name);
    let [best] = [lines.get(idOf(group))];
    for (const line of lines.values())
      if (best !== undefined && roomOf(line) > 0 && roundOf(line) < roundOf(best)) best = line;
    return best?.groups.peek();
  }

  #endOf({ key, startedAt, flow }: Group): number {
    const { turns, lines } = this.#lock(key);
    return startedAt + turns.lengthOf(flow.namespace.name, new Set(namespacesOf(lines)));
  }

  #isWaitedFor({ key }: Group): boolean {
    return this.#lock(key).lines.size > 0 || this.#lineUp.placed > 0;
  }

  /**
   * Reports whether another group waits for its name, or has a claim to a slot that no other group
   * is about to give. Three rules keep a tenant from using this to make others yield forever:
   *
   * - Only Challenges that may be proved wait here. `challenge-work.ts` checks the grant and the
   *   signer first, and removes a Challenge whose signer stops being ready.
   * - A namespace claims slots only from namespaces that have more. The claims of a flood reach its
   *   own slots alone.
   * - `NameTurns` gives a name in rounds, regardless of the number of requests.
   *
   * A group that waits for a name counts although its signer has no free slot. The signer does not
   * count it before its name is free, so both would otherwise wait for each other.
   */
  #isContended({ key, flow }: Group): boolean {
    if (this.#lock(key).lines.size > 0) return true;
    const yielding = [...this.#running].filter((each) => each.isYielding);
    return this.#isSlotOfSignerClaimed(flow, yielding) || this.#isSlotClaimed(flow, yielding);
  }

  #isSlotOfSignerClaimed(flow: TenantSigner, yielding: readonly Group[]): boolean {
    const { signer, used } = flow;
    if (signer.used < signer.slots) return false;
    const ofSigner = yielding.filter((each) => each.flow.signer === signer);
    const own = ofSigner.filter((each) => each.flow === flow);
    return this.#lineUp.claimsOfSigner(flow, used - own.length) > ofSigner.length;
  }

  /** Applies to a signer without a free slot as well, because all signers share these slots. */
  #isSlotClaimed(flow: TenantSigner, yielding: readonly Group[]): boolean {
    if (this.#used < this.#slots) return false;
    const own = yielding.filter((each) => each.flow.namespace === flow.namespace);
    return this.#lineUp.claims(flow, flow.namespace.used - own.length) > yielding.length;
  }

  #lock(key: string): Lock {
    const found = this.#locks.get(key);
    if (found !== undefined) return found;
    const made = { lines: new Map(), running: new Set<Group>(), turns: new NameTurns() };
    this.#locks.set(key, made);
    return made;
  }

  #forget(key: string): void {
    const lock = this.#locks.get(key);
    if (lock?.lines.size === 0 && lock.running.size === 0) this.#locks.delete(key);
  }

  /** Returns the line of a group, and creates it if necessary. */
  #lineOf(group: Group): Line {
    const { lines, running, turns } = this.#lock(group.key);
    const id = idOf(group);
    const found = lines.get(id);
    if (found !== undefined) return found;
    const holders = [...running].map((each) => each.flow.namespace.name);
    turns.join(group.flow.namespace.name, namespacesOf(lines), holders);
    const made = this.#lineUp.line(group.key, group.flow);
    lines.set(id, made);
    return made;
  }

  #groupFor({ id, order, namespace, signer, name, type, createdAt: since }: Schedulable): Group {
    const key = `${type} ${name}`;
    const found = this.#groups.get(`${order} ${key}`);
    const group = found ?? {
      order,
      key,
      flow: this.#lineUp.flow(namespace, signer),
      since,
      startedAt: 0,
      isYielding: false,
      waiting: new Map<string, Schedulable>(),
      running: new Set<string>(),
    };
    if (found === undefined) group.flow.groups += 1;
    this.#groups.set(`${order} ${key}`, group);
    this.#groupOf.set(id, group);
    return group;
  }
}

/** Returns the free slots of the signer. */
function roomOf({ flow: { signer } }: Group | Line): number {
  return signer.slots - signer.used;
}

function idOf({ flow: { namespace, signer } }: Group | Line): string {
  return `${namespace.name} ${signer.name}`;
}

function namespacesOf(lines: ReadonlyMap<string, Line>): readonly string[] {
  return [...lines.values()].map(({ flow }) => flow.namespace.name);
}
