// SPDX-License-Identifier: Apache-2.0
import { PREPARE_AT, ROTATE_AT } from '#api/signer/rotation-annotations.ts';
import { formatTime } from '#api/object/time.ts';
import type { AuthorityStatus } from '#api/signer/cluster-signer.ts';
import { MAX_CLOCK_OFFSET_MS } from '#component/server-time.ts';
import { openedBy } from './at-work.ts';
import { distrust } from './incidents.ts';
import type { Fate, Process } from './process.ts';
import { Dice } from '../../../oracle/dice.ts';
import { DAY, HOUR, MINUTE, SECOND, changesOf, randomDurations, type Weather } from './scenario.ts';
import { Wipes } from './wipes.ts';
import { workload } from '../../../support/signers/workload-profile.ts';
import type { Simulation } from './simulation.ts';

const FATES: readonly Fate[] = ['lost before', 'lost after', 'killed before', 'killed after'];
/** Outages of a component are shorter than a CA's successor may be late. */
const LONGEST_OUTAGE = 20 * MINUTE;
/** A watch that is half-open shows that after 75 s. */
const LONGEST_LAG = 75 * SECOND;

type Kind = Exclude<keyof Weather, 'lostPercent'>;
const KINDS: readonly Kind[] = [
  ...([
    'restarts',
    'outages',
    'clockSteps',
    'specChanges',
    'wishes',
    'distrusts',
    'wipes',
  ] as const),
];

/** What happens to components, clocks and specs, at random times. */
export class Accidents {
  readonly #sim: Simulation;
  readonly #times = new Map<Kind, number>();
  readonly damage: Wipes;

  constructor(sim: Simulation) {
    this.#sim = sim;
    this.damage = new Wipes(sim, new Dice(sim.init.seed));
    for (const kind of KINDS) this.#schedule(kind);
  }

  get next(): number {
    return Math.min(...this.#times.values(), Infinity);
  }

  fate(method: string): Fate {
    const { dice, init } = this.#sim;
    if (dice.roll(100) >= init.weather.lostPercent) return 'well';
    return method === 'GET' ? 'lost before' : dice.of(FATES);
  }

  happen(): void {
    const { now } = this.#sim.world;
    for (const [kind, at] of this.#times) {
      if (at > now) continue;
      this.#schedule(kind);
      this[kind]();
    }
  }

  #schedule(kind: Kind): void {
    const { dice, init, world } = this.#sim;
    const mean = init.weather[kind];
    this.#times.set(kind, mean === 0 ? Infinity : world.now + HOUR + dice.roll(2 * mean));
  }

  /** One component, or one signer with all that it remembers. */
  restarts(): void {
    const { dice, authority, attester, signers } = this.#sim;
    const signer = signers[dice.roll(4)];
    const down = dice.roll(MINUTE);
    if (signer === undefined) dice.of([authority, attester]).restart(down);
    else {
      signer.process.restart(0);
      signer.opened = openedBy(signer.process);
    }
  }

  /** A component is away for a while, or all watches are late from now on. */
  outages(): void {
    const { dice, authority, attester, signers } = this.#sim;
    if (dice.roll(2) === 0) {
      dice.of([authority, attester]).restart(dice.roll(LONGEST_OUTAGE));
      return;
    }
    const all: Process[] = [authority, attester, ...signers.map(({ process }) => process)];
    for (const each of all) each.lag = dice.of([0, 0, dice.roll(LONGEST_LAG)]);
  }

  /** The clock of one node is set, as far as it will; or its machine sleeps. */
  clockSteps(): void {
    const { dice, authority, attester, signers } = this.#sim;
    if (dice.roll(4) === 0) {
      dice.of([authority, attester]).sleep(dice.roll(LONGEST_OUTAGE));
      return;
    }
    const one = dice.of([authority, attester, ...signers.map(({ process }) => process)]);
    const isSigner = one !== authority && one !== attester;
    const most = isSigner ? MAX_CLOCK_OFFSET_MS : dice.of([MINUTE, HOUR, 400 * DAY]);
    one.offset = dice.of([-1, 1]) * dice.roll(most);
    if (Math.abs(one.offset) <= MAX_CLOCK_OFFSET_MS) return;
    // It stops rotation: somebody sets it right, sooner than a successor may be late.
    this.#sim.later(this.#sim.world.now + dice.roll(LONGEST_OUTAGE), () => {
      one.offset = 0;
    });
  }

  specChanges(): void {
    const sim = this.#sim;
    const { dice, world } = sim;
    const before = world.objects.signer;
    if (before === undefined) return;
    sim.durations = randomDurations(dice);
    const { managed } = before.spec.authority;
    const { spec } = workload({
      ...changesOf(sim.durations),
      // Somebody tidies up.
      'authority.managed.distrusted': dice.roll(3) === 0 ? undefined : managed?.distrusted,
      'authority.managed.crossSigned': (managed?.crossSigned === true) !== (dice.roll(4) === 0),
      'authority.managed.keyType': dice.of(['ECDSAP256', 'ECDSAP256', 'ED25519']),
      'authority.managed.commonName': dice.of(['Example workload CA', 'Another CA']),
      'profile.crl': before.spec.profile.crl,
    });
    const generation = (before.metadata.generation ?? 0) + 1;
    world.put('signer', { ...before, spec, metadata: { ...before.metadata, generation } });
    // The CA of the old spec may be too short for the leaves of the new one, until it is replaced.
    sim.excuse(HOUR + 2 * LONGEST_OUTAGE);
  }

  /** Somebody asks for a rotation, or for a successor; now or soon. */
  wishes(): void {
    const { dice, world } = this.#sim;
    const before = world.objects.signer;
    if (before === undefined) return;
    const name = dice.of([ROTATE_AT, ROTATE_AT, PREPARE_AT]);
    const at = world.now + dice.of([0, 0, dice.roll(DAY)]);
    const annotations = { ...before.metadata.annotations, [name]: formatTime(at) };
    world.put('signer', { ...before, metadata: { ...before.metadata, annotations } });
  }

  /** Mostly the CA that signs; or one that is prepared, or old. */
  distrusts(): void {
    const { dice, world } = this.#sim;
    const all = world.objects.signer?.status?.authorities ?? [];
    if (all.length === 0) return;
    const known = dice.roll(4) === 0 ? dice.of(all) : all[0];
    const forgotten = dice.roll(3) === 0 ? this.#forgotten(all) : undefined;
    const one = forgotten ?? known?.fingerprint;
    // Who replaces it may be away, and so may who publishes that.
    if (one !== undefined) distrust(this.#sim, one, HOUR + 2 * LONGEST_OUTAGE);
  }

  /** The status is damaged; now and then just before or after somebody changes the profile. */
  wipes(): void {
    const { dice, world } = this.#sim;
    const changed = dice.roll(4);
    if (changed === 0) this.specChanges();
    this.damage.happen();
    this.#sim.excuse(HOUR + 2 * LONGEST_OUTAGE);
    if (changed === 1) {
      this.#sim.later(world.now + dice.of([0, SECOND, 5 * MINUTE]), () => {
        this.specChanges();
      });
    }
  }

  /**
   * A CA whose key was certified, that the status lists no more: its root may be valid for years.
   */
  #forgotten(listed: readonly AuthorityStatus[]): string | undefined {
    const { dice, laws } = this.#sim;
    const gone = laws.crosses.all
      .map(({ subject }) => subject)
      .filter((each) => listed.every(({ fingerprint }) => fingerprint !== each));
    return gone.length === 0 ? undefined : dice.of(gone);
  }
}
