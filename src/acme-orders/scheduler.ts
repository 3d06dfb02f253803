// SPDX-License-Identifier: Apache-2.0
import { IndexedHeap } from './indexed-heap.ts';

/** A Challenge as the scheduler sees it. */
export interface Schedulable {
  /** Its uid. */
  readonly id: string;
  /** uid of its Order. */
  readonly order: string;
  /** Of the signer, which may have fewer slots than all together. */
  readonly signer: string;
  /** Without `*.`: a wildcard is proved at the name below it. */
  readonly name: string;
  readonly type: string;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
}

/** Challenges of one Order with one name and type. */
interface Group {
  readonly order: string;
  readonly signer: string;
  readonly key: string;
  /** Since when the oldest of those that wait has waited. */
  since: number;
  readonly waiting: Map<string, Schedulable>;
  readonly running: Set<string>;
}

/** Groups of one signer and one name and type, the oldest first. */
interface Line {
  readonly key: string;
  readonly signer: string;
  readonly groups: IndexedHeap<Group>;
}

interface Signer {
  slots: number;
  used: number;
  /** Lines whose name and type nobody runs. */
  readonly lines: IndexedHeap<Line>;
}

/**
 * Which Challenges may run: at most so many at once, the oldest first, a freed slot at once; never two of one name and
 * type, but for those of one Order, a wildcard and its base name, which share a slot.
 */
export class ChallengeScheduler {
  readonly #slots: number;
  readonly #isOlder: (a: Group, b: Group) => boolean;
  readonly #isOlderLine: (a: Line, b: Line) => boolean;
  /** By Order, name and type. */
  readonly #groups = new Map<string, Group>();
  readonly #groupOf = new Map<string, Group>();
  readonly #signers = new Map<string, Signer>();
  /** By name and type, then by signer. */
  readonly #lines = new Map<string, Map<string, Line>>();
  /** Who runs each name and type: several only where more were adopted than should be. */
  readonly #runningOf = new Map<string, Set<Group>>();
  /** Groups that have a slot and a Challenge that does not run yet. */
  readonly #joining = new Set<Group>();
  /** Signers that may have another slot and have something to run. */
  readonly #ready: IndexedHeap<Signer>;
  #used = 0;

  /**
   * @param slots - for all signers together
   * @param onStep - called for each comparison, so that tests count the work of a decision
   */
  constructor(slots: number, onStep: () => void = () => undefined) {
    this.#slots = slots;
    this.#isOlder = (a, b) => {
      onStep();
      return isOlderGroup(a, b);
    };
    this.#isOlderLine = (a, b) => {
      onStep();
      return isOlderLine(a, b);
    };
    this.#ready = new IndexedHeap((a, b) => {
      onStep();
      return isOlderLine(a.lines.peek(), b.lines.peek());
    });
  }

  /** Slots in use. */
  get used(): number {
    return this.#used;
  }

  /** How many slots a signer may have. */
  limit(name: string, slots: number): void {
    const signer = this.#signer(name);
    signer.slots = slots;
    this.#offer(signer);
  }

  /** Adds a Challenge that waits. One whose Order runs that name and type runs with it from the next call of `next`. */
  add(challenge: Schedulable): void {
    if (this.#groupOf.has(challenge.id)) return;
    const group = this.#groupFor(challenge);
    group.waiting.set(challenge.id, challenge);
    if (group.running.size > 0) this.#joining.add(group);
    else this.#enqueue(group);
  }

  /** Adds one that had a slot before this process began, even beyond the limit. */
  adopt(challenge: Schedulable): void {
    if (this.#groupOf.has(challenge.id)) return;
    const group = this.#groupFor(challenge);
    group.running.add(challenge.id);
    if (group.running.size === 1) this.#occupy(group);
    if (group.waiting.size > 0) this.#joining.add(group);
  }

  /** The Challenges that run from now on; empty where no slot is free, or none may have it. */
  next(): readonly Schedulable[] {
    const [joined] = this.#joining;
    if (joined !== undefined) return this.#start(joined);
    const line = this.#used < this.#slots ? this.#ready.peek()?.lines.peek() : undefined;
    const group = line?.groups.peek();
    if (group === undefined) return [];
    const started = this.#start(group);
    this.#occupy(group);
    return started;
  }

  /** Removes one that ended or was deleted; its slot is free with the last one that shares it. */
  remove(id: string): void {
    const group = this.#groupOf.get(id);
    if (group === undefined) return;
    this.#groupOf.delete(id);
    const ran = group.running.delete(id);
    group.waiting.delete(id);
    if (group.waiting.size === 0 || group.running.size === 0) this.#joining.delete(group);
    if (group.running.size > 0) return;
    if (ran) this.#release(group);
    else if (group.waiting.size > 0) this.#enqueue(group);
    else this.#dequeue(group);
    if (group.waiting.size === 0) this.#groups.delete(`${group.order} ${group.key}`);
  }

  #start(group: Group): readonly Schedulable[] {
    const started = [...group.waiting.values()];
    for (const { id } of started) group.running.add(id);
    group.waiting.clear();
    this.#joining.delete(group);
    return started;
  }

  #occupy(group: Group): void {
    this.#used += 1;
    const signer = this.#signer(group.signer);
    signer.used += 1;
    const running = this.#runningOf.get(group.key) ?? new Set();
    this.#runningOf.set(group.key, running.add(group));
    this.#dequeue(group);
    this.#placeAll(group.key);
    this.#offer(signer);
  }

  #release(group: Group): void {
    this.#used -= 1;
    const signer = this.#signer(group.signer);
    signer.used -= 1;
    const running = this.#runningOf.get(group.key);
    running?.delete(group);
    if (running?.size === 0) this.#runningOf.delete(group.key);
    // What waits beside it waits for a slot again.
    if (group.waiting.size > 0) this.#enqueue(group);
    this.#placeAll(group.key);
    this.#offer(signer);
  }

  #enqueue(group: Group): void {
    group.since = Math.min(...[...group.waiting.values()].map(({ createdAt }) => createdAt));
    const line = this.#line(group);
    line.groups.set(group);
    this.#place(line);
  }

  #dequeue(group: Group): void {
    const line = this.#line(group);
    line.groups.delete(group);
    this.#place(line);
  }

  /** Puts a line where its oldest group belongs, or away while it may not run. */
  #place(line: Line): void {
    const signer = this.#signer(line.signer);
    // Its own place depends on its lines.
    this.#ready.delete(signer);
    if (line.groups.size > 0 && !this.#runningOf.has(line.key)) signer.lines.set(line);
    else signer.lines.delete(line);
    if (line.groups.size === 0) this.#forget(line);
    this.#offer(signer);
  }

  #placeAll(key: string): void {
    for (const line of [...(this.#lines.get(key)?.values() ?? [])]) this.#place(line);
  }

  #offer(signer: Signer): void {
    if (signer.lines.size > 0 && signer.used < signer.slots) this.#ready.set(signer);
    else this.#ready.delete(signer);
  }

  #forget({ key, signer }: Line): void {
    const lines = this.#lines.get(key);
    lines?.delete(signer);
    if (lines?.size === 0) this.#lines.delete(key);
  }

  #signer(name: string): Signer {
    const known = this.#signers.get(name);
    if (known !== undefined) return known;
    const made = { slots: Infinity, used: 0, lines: new IndexedHeap(this.#isOlderLine) };
    this.#signers.set(name, made);
    return made;
  }

  #line({ key, signer }: Group): Line {
    const lines = this.#lines.get(key) ?? new Map<string, Line>();
    this.#lines.set(key, lines);
    const line = lines.get(signer) ?? { key, signer, groups: new IndexedHeap(this.#isOlder) };
    lines.set(signer, line);
    return line;
  }

  #groupFor({ id, order, signer, name, type, createdAt: since }: Schedulable): Group {
    const key = `${type} ${name}`;
    const found = this.#groups.get(`${order} ${key}`);
    const group = found ?? { order, signer, key, since, waiting: new Map(), running: new Set() };
    this.#groups.set(`${order} ${key}`, group);
    this.#groupOf.set(id, group);
    return group;
  }
}

function isOlderGroup(a: Group, b: Group): boolean {
  return a.since === b.since ? a.order < b.order : a.since < b.since;
}

/** Lines that are empty come last. */
function isOlderLine(a: Line | undefined, b: Line | undefined): boolean {
  const [first, second] = [a?.groups.peek(), b?.groups.peek()];
  if (first === undefined || second === undefined) return first !== undefined;
  return first.order === second.order && first.since === second.since
    ? first.key < second.key
    : isOlderGroup(first, second);
}
