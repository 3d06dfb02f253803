// SPDX-License-Identifier: Apache-2.0
import { BoundedMap } from '#base/bounded-map.ts';
import { IndexedHeap } from './indexed-heap.ts';

/** Data of a Challenge that the scheduler needs. */
export interface Schedulable {
  /** uid of the Challenge. */
  readonly id: string;
  /** uid of its Order. */
  readonly order: string;
  readonly namespace: string;
  /** Name of the signer, whose slots may be limited. */
  readonly signer: string;
  /** Name without `*.`: the base name proves a wildcard. */
  readonly name: string;
  readonly type: string;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
}

/** Challenges of one Order with one name and type: a wildcard and its base. */
export interface Group {
  readonly order: string;
  readonly key: string;
  readonly flow: TenantSigner;
  /** Creation time of the oldest waiting Challenge. */
  since: number;
  /** Start of its turn. */
  startedAt: number;
  /** Whether its turn is over and its clean-up runs. */
  isYielding: boolean;
  readonly waiting: Map<string, Schedulable>;
  readonly running: Set<string>;
}

/** Groups of one flow at one name and type, the oldest first. */
export interface Line {
  readonly key: string;
  readonly flow: TenantSigner;
  readonly groups: IndexedHeap<Group>;
  isPlaced: boolean;
}

/** Groups of one namespace with one signer. */
export interface TenantSigner {
  readonly namespace: Namespace;
  readonly signer: Signer;
  /** Lines whose name and type may run. */
  readonly lines: IndexedHeap<Line>;
  used: number;
  /** Number of its last start, or 0. */
  servedAt: number;
  /** Number of its groups, running or waiting. */
  groups: number;
}

export interface Namespace {
  readonly name: string;
  used: number;
  /** Number of its last start, or 0. */
  servedAt: number;
  readonly flows: Map<Signer, TenantSigner>;
}

export interface Signer {
  readonly name: string;
  slots: number;
  used: number;
  /** Number of lines of its flows that may run. */
  placed: number;
  /** Flows that can run more, ordered by their namespace's share of all slots. */
  readonly flows: IndexedHeap<TenantSigner>;
  /** The same flows, ordered by their share of this signer. */
  readonly shares: IndexedHeap<TenantSigner>;
}

/** Limit on idle namespaces and flows whose last start is remembered. */
const MAX_SERVED = 10_000;

/**
 * Groups that may run, in their order. The namespace with the fewest running comes first, then the
 * one that waited longest since its last start, then the oldest. This order decides which signer
 * gets the next slot. Among the namespaces of that signer, only its own slots count. Otherwise a
 * namespace that also waits elsewhere would never be served at a signer with few slots. A caller
 * takes an element out before a change, and puts it back afterwards.
 */
export class LineUp {
  /** Signers with a free slot and something to run. */
  readonly #ready: IndexedHeap<Signer>;
  readonly #signers = new Map<string, Signer>();
  readonly #namespaces = new Map<string, Namespace>();
  readonly #remembered = new BoundedMap<string, number>(MAX_SERVED);
  readonly #isOlder: (a: Group, b: Group) => boolean;
  readonly #isOlderLine: (a: Line, b: Line) => boolean;
  readonly #isBefore: (a: TenantSigner, b: TenantSigner) => boolean;
  readonly #hasLess: (a: TenantSigner, b: TenantSigner) => boolean;
  #starts = 0;
  #placed = 0;

  /** @param onStep - called for each comparison */
  constructor(onStep: () => void) {
    const counting =
      <T>(compare: (a: T, b: T) => boolean) =>
      (a: T, b: T): boolean => {
        onStep();
        return compare(a, b);
      };
    this.#isOlder = counting(isOlderGroup);
    this.#isOlderLine = counting(isOlderLine);
    this.#isBefore = counting(isBeforeFlow);
    this.#hasLess = counting(hasLess);
    this.#ready = new IndexedHeap(
      counting((a, b) => isBeforeFlow(a.flows.least(), b.flows.least())),
    );
  }

  /** Number of lines that may run. */
  get placed(): number {
    return this.#placed;
  }

  peek(): Group | undefined {
    return this.#ready.peek()?.shares.peek()?.lines.peek()?.groups.peek();
  }

  /**
   * Returns the number of waiting lines that can claim a slot from a flow. A namespace with fewer
   * slots has claims until both have as many, and the flow's own namespace has one for each line. A
   * namespace that has more than its share makes no other yield.
   *
   * @param has - the number of slots that the flow's namespace keeps
   */
  claims({ namespace }: TenantSigner, has: number): number {
    return this.#ready.values().reduce((sum, { slots, used, flows }) => {
      const ofSigner = flows
        .values()
        .map((each) => claimOf(each, each.namespace === namespace, has - each.namespace.used));
      return sum + Math.min(slots - used, sumOf(ofSigner));
    }, 0);
  }

  /** Returns the number of waiting lines that can claim one of its signer's slots from a flow. */
  claimsOfSigner(flow: TenantSigner, has: number): number {
    const waiting = flow.signer.flows.values();
    return sumOf(waiting.map((each) => claimOf(each, each === flow, has - each.used)));
  }

  flow(namespaceName: string, signerName: string): TenantSigner {
    const namespace = this.#namespace(namespaceName);
    const signer = this.signer(signerName);
    const found = namespace.flows.get(signer) ?? {
      namespace,
      signer,
      lines: new IndexedHeap(this.#isOlderLine),
      used: 0,
      servedAt: this.#remembered.get(`${namespaceName} ${signerName}`) ?? 0,
      groups: 0,
    };
    namespace.flows.set(signer, found);
    return found;
  }

  line(key: string, flow: TenantSigner): Line {
    return { key, flow, groups: new IndexedHeap(this.#isOlder), isPlaced: false };
  }

  signer(name: string): Signer {
    const known = this.#signers.get(name);
    if (known !== undefined) return known;
    const flows = new IndexedHeap(this.#isBefore);
    const shares = new IndexedHeap(this.#hasLess);
    const made = { name, slots: Infinity, used: 0, placed: 0, flows, shares };
    this.#signers.set(name, made);
    return made;
  }

  /** @param slots - undefined if the signer no longer exists */
  limit(name: string, slots: number | undefined): void {
    const signer = this.signer(name);
    this.#ready.delete(signer);
    signer.slots = slots ?? Infinity;
    if (slots === undefined && signer.used === 0 && signer.placed === 0) this.#signers.delete(name);
    else this.#offer(signer);
  }

  /** Takes a line out. Its groups may change until `place` puts it back. */
  lift(line: Line): void {
    this.#unseat(line.flow);
    line.flow.lines.delete(line);
    if (line.isPlaced) this.#count(line, false);
    this.#seat(line.flow);
  }

  /** Puts a line where its oldest group belongs. */
  place(line: Line): void {
    this.#unseat(line.flow);
    line.flow.lines.set(line);
    if (!line.isPlaced) this.#count(line, true);
    this.#seat(line.flow);
  }

  /** Changes the number of running Challenges of a flow. */
  use(flow: TenantSigner, difference: number): void {
    const { namespace, signer } = flow;
    const flows = [...namespace.flows.values()];
    for (const each of flows) this.#unseat(each);
    this.#ready.delete(signer);
    for (const each of [namespace, signer, flow]) each.used += difference;
    if (difference > 0) namespace.servedAt = flow.servedAt = this.#starts += 1;
    for (const each of flows) this.#seat(each);
    this.#offer(signer);
  }

  /** Forgets an idle flow, except for the time of its last start. */
  prune({ namespace, signer, groups, servedAt }: TenantSigner): void {
    if (groups > 0) return;
    namespace.flows.delete(signer);
    this.#remembered.set(`${namespace.name} ${signer.name}`, servedAt);
    const isIdle = signer.used === 0 && signer.placed === 0 && signer.slots === Infinity;
    if (isIdle && this.#signers.get(signer.name) === signer) this.#signers.delete(signer.name);
    if (namespace.used > 0 || namespace.flows.size > 0) return;
    this.#namespaces.delete(namespace.name);
    this.#remembered.set(namespace.name, namespace.servedAt);
  }

  #count(line: Line, isPlaced: boolean): void {
    const difference = isPlaced ? 1 : -1;
    line.isPlaced = isPlaced;
    line.flow.signer.placed += difference;
    this.#placed += difference;
  }

  #unseat(flow: TenantSigner): void {
    this.#ready.delete(flow.signer);
    flow.signer.flows.delete(flow);
    flow.signer.shares.delete(flow);
  }

  #seat(flow: TenantSigner): void {
    if (flow.lines.size > 0) {
      flow.signer.flows.set(flow);
      flow.signer.shares.set(flow);
    }
    this.#offer(flow.signer);
  }

  #offer(signer: Signer): void {
    if (signer.flows.size > 0 && signer.used < signer.slots) this.#ready.set(signer);
    else this.#ready.delete(signer);
  }

  #namespace(name: string): Namespace {
    const known = this.#namespaces.get(name);
    if (known !== undefined) return known;
    const made = { name, used: 0, servedAt: this.#remembered.get(name) ?? 0, flows: new Map() };
    this.#namespaces.set(name, made);
    return made;
  }
}

function isOlderGroup(a: Group, b: Group): boolean {
  return a.since === b.since ? a.order < b.order : a.since < b.since;
}

function isOlderLine(a: Line, b: Line): boolean {
  const [first, second] = [a.groups.least(), b.groups.least()];
  return first.order === second.order && first.since === second.since
    ? first.key < second.key
    : isOlderGroup(first, second);
}

function isBeforeFlow(a: TenantSigner, b: TenantSigner): boolean {
  return isNext(a.namespace, b.namespace) ?? isOlderFlow(a, b);
}

function hasLess(a: TenantSigner, b: TenantSigner): boolean {
  return isNext(a, b) ?? isNext(a.namespace, b.namespace) ?? isOlderFlow(a, b);
}

type NamespaceUsage = Pick<Namespace, 'used' | 'servedAt'>;

function isNext(a: NamespaceUsage, b: NamespaceUsage): boolean | undefined {
  if (a.used !== b.used) return a.used < b.used;
  return a.servedAt === b.servedAt ? undefined : a.servedAt < b.servedAt;
}

function isOlderFlow(a: TenantSigner, b: TenantSigner): boolean {
  return isOlderLine(a.lines.least(), b.lines.least());
}

function claimOf({ lines }: TenantSigner, isOwn: boolean, fewer: number): number {
  return isOwn ? lines.size : Math.min(lines.size, Math.max(0, fewer));
}

function sumOf(numbers: readonly number[]): number {
  return numbers.reduce((sum, each) => sum + each, 0);
}
