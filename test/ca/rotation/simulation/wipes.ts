// SPDX-License-Identifier: Apache-2.0
/**
 * Damage to a status: no client but `authority` writes it, but people restore, edit and lose things
 * (ADR 0024).
 */
import type {
  AuthorityStatus,
  ClusterSigner,
  ClusterSignerStatus,
} from '#api/signer/cluster-signer.ts';
import type { Secret } from '#api/object/object.ts';
import { parseDuration } from '#api/object/duration.ts';
import { slotMaterial } from '#trust/authority/decide/inspect.ts';
import { SignerError, attempt } from '#base/errors.ts';
import { fingerprint } from '#pki/x509/certificate.ts';
import { readAnchors } from '#pki/x509/trust-bundle.ts';
import type { Dice } from '../../../oracle/dice.ts';
import type { Simulation } from './simulation.ts';

/** What a status is after it; undefined where there is no status any more. */
export type Damage = (status: ClusterSignerStatus) => ClusterSignerStatus | undefined;

export const allIsLost: Damage = () => undefined;

/** The records of distrust alone. */
export const distrustIsLost: Damage = ({ distrusted: _lost, ...rest }) => rest;

/** The records of cross-certificates alone. */
export const crossesAreLost: Damage = ({ crossCertificates: _lost, ...rest }) => rest;

/** So many backups are kept, of any age. */
const COPIES = 12;

/** Damages the status at random moments, in every way. */
export class Wipes {
  readonly #sim: Simulation;
  readonly #dice: Dice;
  readonly #copies: ClusterSignerStatus[] = [];

  constructor(sim: Simulation, dice: Dice) {
    this.#sim = sim;
    this.#dice = dice;
    sim.world.onChange(({ kind, object, isManaged }) => {
      const { status } = (object ?? {}) as Partial<ClusterSigner>;
      if (kind === 'signer' && isManaged && status !== undefined) this.#keep(status);
    });
  }

  happen(): void {
    const dice = this.#dice;
    const kinds: readonly Damage[] = [
      allIsLost,
      (status) => this.#withoutEntries(status),
      distrustIsLost,
      crossesAreLost,
      (status) => distrustIsLost(crossesAreLost(status) ?? status),
      (status) => (this.#copies.length === 0 ? status : dice.of(this.#copies)),
    ];
    damageStatus(this.#sim, dice.of(kinds));
  }

  #withoutEntries(status: ClusterSignerStatus): ClusterSignerStatus {
    const all = status.authorities ?? [];
    const share = this.#dice.of([1, 2, 3]);
    return { ...status, authorities: all.filter(() => this.#dice.roll(share + 1) !== 0) };
  }

  /** Any of them goes, so that some are years old. */
  #keep(status: ClusterSignerStatus): void {
    if (this.#dice.roll(8) !== 0) return;
    const at = this.#copies.length < COPIES ? this.#copies.length : this.#dice.roll(COPIES);
    this.#copies[at] = status;
  }
}

/** What the damage took away is told to the laws, which promise less then. */
export function damageStatus(sim: Simulation, damage: Damage): void {
  const { signer } = sim.world.objects;
  if (signer?.status === undefined) return;
  const { status: before, ...bare } = signer;
  const after = damage(before);
  if (after === undefined) sim.laws.wasStatusLost = true;
  sim.laws.statusDamaged(
    knownAfter(sim, signer, after),
    cutBy(before, after, sim.world.objects.secret),
  );
  sim.world.put('signer', after === undefined ? bare : { ...bare, status: after });
}

/** What is still known of distrust, by whoever reads what is left: CAs by fingerprint. */
export interface Known {
  readonly distrusted: ReadonlySet<string>;
  /** Whether the attester, which reads no Secret, knows as much as `authority`. */
  readonly isRecorded: boolean;
}

function knownAfter(
  sim: Simulation,
  { spec }: ClusterSigner,
  after: ClusterSignerStatus | undefined,
): Known {
  const distrusted = new Set([
    ...(spec.authority.managed?.distrusted ?? []),
    ...(after?.distrusted ?? []).map((each) => each.fingerprint),
    ...(after?.authorities ?? [])
      .filter(({ phase }) => phase === 'Distrusted')
      .map((each) => each.fingerprint),
  ]);
  const certifiers = sim.laws.crosses.all
    .filter(({ subject }) => sim.laws.distrusted.has(subject))
    .map(({ issuer }) => issuer);
  const published = new Set((after?.authorities ?? []).map((each) => each.fingerprint));
  const isRecorded = certifiers.every((each) => distrusted.has(each) || !published.has(each));
  return { distrusted, isRecorded };
}

/**
 * CAs whose leaves nobody can promise anything of, by fingerprint. Where all is lost the bundle
 * tells.
 */
export interface Cut {
  /** Their entries are gone while others are left, and the Secret has them no more. */
  readonly forGood: readonly string[];
  /** The Secret has them: `authority` lists them again when it looks. */
  readonly forNow: readonly string[];
  /** Their entries tell of shorter leaves than there are. */
  readonly forOldLeaves: readonly string[];
}

function cutBy(
  before: ClusterSignerStatus,
  after: ClusterSignerStatus | undefined,
  secret: Secret | undefined,
): Cut {
  if (after === undefined) return { forGood: [], forNow: [], forOldLeaves: [] };
  const all = before.authorities ?? [];
  const leftOf = (print: string): AuthorityStatus | undefined =>
    after.authorities?.find(({ fingerprint: each }) => each === print);
  const held = new Set(secret === undefined ? [] : heldBy(secret));
  const lost = all
    .map(({ fingerprint: print }) => print)
    .filter((print) => leftOf(print) === undefined);
  return {
    forGood: lost.filter((print) => !held.has(print)),
    forNow: lost.filter((print) => held.has(print)),
    forOldLeaves: all
      .filter((was) => secondsOf(leftOf(was.fingerprint)) < secondsOf(was))
      .map(({ fingerprint: print }) => print),
  };
}

function secondsOf(entry: AuthorityStatus | undefined): number {
  return entry === undefined ? Infinity : parseDuration(entry.longestLeaf);
}

function heldBy(secret: Secret): readonly string[] {
  return (['tls', 'next'] as const).flatMap((slot) => {
    const read = attempt(() => readAnchors(slotMaterial(secret, slot).certificate));
    return read instanceof SignerError ? [] : read.map(({ raw }) => fingerprint(raw));
  });
}
