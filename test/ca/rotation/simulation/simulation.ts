// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import type { ClusterSigner, UpstreamSpec } from '#api/signer/cluster-signer.ts';
import type { Secret } from '#api/object/object.ts';
import { SignerError } from '#base/errors.ts';
import type { OpenedSecrets } from '#requests/ca/opened-secrets.ts';
import { Dice } from '../../../oracle/dice.ts';
import { attesterLooks, authorityLooks, openedBy, signLeaf, type Next } from './at-work.ts';
import { Accidents } from './accidents.ts';
import { Laws, type Leaf } from './laws.ts';
import { Process, type Fate } from './process.ts';
import { MINUTE, SECOND, isNamed, signerOf, type Durations, type Weather } from './scenario.ts';
import { World, type Change, type Kind } from './world.ts';

export const START = Date.UTC(2026, 0, 1);

export interface SimulationInit {
  readonly seed: number;
  readonly durations: Durations;
  readonly weather: Weather;
  readonly propagationSeconds: number;
  /** As `spec.authority.managed.crossSigned` begins. */
  readonly crossSigned?: boolean;
  /** A leaf is made as often; by default twice in the life of one, at random. */
  readonly signEveryMs?: number;
  /** Asked before each call of a component; by default the weather decides. */
  readonly fate?: (name: string, method: string, path: string) => Fate;
  /** Whether the signer has `profile.crl`. */
  readonly crl?: boolean;
  /** The CA that signs the CAs. By default each signs itself. */
  readonly upstream?: UpstreamSpec;
  /** What one look of `authority` does; by default all but CRLs. */
  readonly authorityLooks?: (process: Process) => Promise<Next>;
  /** As if an administrator did it. */
  readonly plans?: readonly { readonly at: number; readonly deed: (sim: Simulation) => void }[];
}

export interface Signer {
  readonly process: Process;
  opened: OpenedSecrets;
  nextLeaf: number;
  /** It could sign once, and so it must always. */
  hasSigned: boolean;
}

interface Delivery {
  readonly at: number;
  readonly run: () => void;
}

/** Years of rotations by the components' own decisions, on an API server and a clock of our own. */
export class Simulation {
  readonly world = new World(START);
  readonly laws = new Laws(this.world);
  readonly dice: Dice;
  readonly authority: Process;
  readonly attester: Process;
  readonly signers: readonly Signer[];
  readonly init: SimulationInit;
  /** Writes of ours, by kind of object. */
  readonly writes: Record<Kind, number> = { signer: 0, secret: 0, bundle: 0 };
  readonly changes: Change[] = [];
  durations: Durations;
  /** Until then nobody promises whole leaves, or a leaf at all: something was taken away. */
  excusedUntil = 0;
  #deliveries: Delivery[] = [];
  readonly #accidents: Accidents;

  constructor(init: SimulationInit) {
    this.init = init;
    this.durations = init.durations;
    this.dice = new Dice(init.seed);
    this.world.put('signer', signerOf(init.durations, init));
    this.authority = this.#process('authority');
    this.attester = this.#process('attester');
    this.signers = ['signer-1', 'signer-2'].map((name) => {
      const process = this.#process(name);
      return { process, opened: openedBy(process), nextLeaf: START, hasSigned: false };
    });
    this.world.onChange((change) => {
      this.#spread(change);
    });
    this.#accidents = new Accidents(this);
    for (const { at, deed } of init.plans ?? []) {
      this.later(at, () => {
        deed(this);
      });
    }
  }

  /** Our writes from the activation of each CA to that of the next. */
  get rotations(): readonly Readonly<Record<Kind, number>>[] {
    const all: Record<Kind, number>[] = [];
    let active: string | undefined;
    for (const { kind, object, isManaged } of this.changes) {
      const inTls = kind === 'secret' ? (object as Secret | undefined)?.data?.['tls.crt'] : active;
      if (inTls !== active) all.push({ secret: 0, signer: 0, bundle: 0 });
      active = inTls;
      const last = all.at(-1);
      if (isManaged && last !== undefined) last[kind] += 1;
    }
    return all;
  }

  /** Until that moment, one event after the other. */
  async run(end: number): Promise<void> {
    for (;;) {
      const next = this.#nextMoment();
      if (next > end) break;
      this.world.now = Math.max(this.world.now, next);
      await this.#moment();
    }
    this.world.now = end;
    await this.laws.settled();
  }

  /** For so long nobody promises whole leaves, or a leaf at all. */
  excuse(milliseconds: number): void {
    this.excusedUntil = Math.max(this.excusedUntil, this.world.now + milliseconds);
  }

  later(at: number, run: () => void): void {
    this.#deliveries.push({ at, run });
  }

  #process(name: string): Process {
    const { propagationSeconds, fate } = this.init;
    return new Process({
      world: this.world,
      name,
      dice: new Dice(this.dice.roll(2 ** 31)),
      propagationSeconds,
      fate: ({ method, path }) =>
        fate === undefined ? this.#accidents.fate(method) : fate(name, method, path),
    });
  }

  #nextMoment(): number {
    const times = [this.authority.lookAt, this.attester.lookAt, this.#accidents.next];
    for (const { nextLeaf } of this.signers) times.push(nextLeaf);
    for (const { at } of this.#deliveries) times.push(at);
    return Math.min(...times);
  }

  async #moment(): Promise<void> {
    const { now } = this.world;
    this.#accidents.happen();
    const due = this.#deliveries.filter(({ at }) => at <= now).sort((a, b) => a.at - b.at);
    this.#deliveries = this.#deliveries.filter(({ at }) => at > now);
    for (const { run } of due) run();
    for (const signer of this.signers) if (signer.nextLeaf <= now) this.#sign(signer);
    if (this.authority.lookAt <= now) {
      await this.#look(this.authority, this.init.authorityLooks ?? authorityLooks);
    }
    if (this.attester.lookAt <= now) await this.#look(this.attester, attesterLooks);
  }

  async #look(process: Process, looks: (process: Process) => Promise<Next>): Promise<void> {
    process.lookAt = Infinity;
    const next = await looks(process);
    if (next === 'killed') {
      process.restart(this.dice.roll(MINUTE));
      return;
    }
    const pause = next === 'backoff' ? 5 + this.dice.roll(30 * SECOND) : process.pause(next);
    process.lookAt = Math.min(process.lookAt, this.world.now + pause);
  }

  /** Each process sees it when its watch delivers it; signers act on it at once. */
  #spread(change: Change): void {
    this.changes.push(change);
    if (change.isManaged) this.writes[change.kind] += 1;
    const processes = [this.authority, this.attester, ...this.signers.map((each) => each.process)];
    for (const process of processes) {
      process.heardAt = Math.max(
        process.heardAt,
        this.world.now + process.lag + this.dice.roll(50),
      );
      this.later(process.heardAt, () => {
        process.observe(change.kind, change.object);
      });
    }
    for (const signer of this.signers) {
      this.later(signer.process.heardAt + 1, () => {
        this.#sign(signer);
      });
    }
  }

  #sign(signer: Signer): void {
    const { now } = this.world;
    const pause = (this.durations.maxDuration * SECOND) / 2;
    signer.nextLeaf = now + (this.init.signEveryMs ?? MINUTE + this.dice.roll(pause));
    const leaf = this.#signed(signer);
    if (leaf === undefined) return;
    // One of four is delivered late: its write was lost, and is made again within five minutes.
    const late = this.dice.roll(4) === 0 ? this.dice.roll(5 * MINUTE) : 0;
    if (late === 0) this.laws.delivered(leaf);
    else
      this.later(now + late, () => {
        this.laws.delivered(leaf);
      });
  }

  #signed(signer: Signer): Leaf | undefined {
    const { process, opened } = signer;
    try {
      const signed = signLeaf(process, opened);
      const { authority, validity, signer: spec } = signed;
      signer.hasSigned = true;
      const { fingerprint } = authority.facts;
      assert.ok(!isNamed(spec, fingerprint), 'who has heard of the distrust signs');
      this.laws.signed(fingerprint);
      this.laws.pinned.signed(signed);
      if (this.world.now >= this.excusedUntil && !this.#isRotationHeldUp(spec)) {
        const life = (validity.notAfter - validity.notBefore) / 1000;
        assert.equal(
          life,
          this.durations.maxDuration,
          `a leaf is cut short: ${spec.metadata.name}`,
        );
      }
      return { authority, ...validity };
    } catch (error) {
      if (!(error instanceof SignerError)) throw error;
      this.#mayWait(signer, error);
      return undefined;
    }
  }

  /**
   * A lost status takes the ends of old CAs along: they count from the loss, and there may be too
   * many.
   */
  #isRotationHeldUp({ spec, status }: ClusterSigner): boolean {
    if (!this.laws.wasStatusLost) return false;
    const { maxRetiring = Infinity } = spec.authority.managed ?? {};
    const old = (status?.authorities ?? []).filter(({ phase }) => phase === 'Retiring');
    return old.length >= maxRetiring;
  }

  /** A request waits for a moment when the spec is new; else it never does. */
  #mayWait({ process, hasSigned }: Signer, error: SignerError): void {
    const { seen } = process;
    const isNew = seen.signer?.status?.observedGeneration !== seen.signer?.metadata.generation;
    if (!hasSigned || isNew || this.world.now < this.excusedUntil) return;
    assert.fail(
      `no CA to sign with at ${new Date(this.world.now).toISOString()}: ${error.message}`,
    );
  }
}
