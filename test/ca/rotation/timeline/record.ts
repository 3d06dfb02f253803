// SPDX-License-Identifier: Apache-2.0
import type { AuthorityPhase, ClusterSigner } from '#api/signer/cluster-signer.ts';
import { servedSince, type ClusterTrustBundle } from '#api/object/cluster-trust-bundle.ts';
import { anchorFingerprints } from '#pki/x509/trust-bundle.ts';
import { NOT_WAITING, DAY } from '../simulation/scenario.ts';
import { START, Simulation } from '../simulation/simulation.ts';

/** From then on until then, in milliseconds since the beginning; open where `to` is Infinity. */
export interface Span {
  readonly from: number;
  to: number;
}

/** The life of one CA in a simulated run. Its fingerprint is random; its letter is not. */
export interface Life {
  readonly letter: string;
  readonly phases: { readonly phase: AuthorityPhase; readonly span: Span }[];
  /** In the published bundle. */
  readonly served: Span[];
  /** Since when the bundle says that it is served. */
  servedSince: number | undefined;
  /** When each leaf of it was delivered. */
  readonly leaves: { readonly at: number; readonly notAfter: number }[];
}

export const DURATIONS = { duration: 30 * 24 * 3600, maxDuration: 7 * 24 * 3600 } as const;
export const PROPAGATION_SECONDS = 600;
export const DAYS = 62;
/** Enough leaves to see how long the last of a CA lives, few enough to be drawn. */
const LEAF_EVERY_MS = 2 * DAY;

/** Runs a calm world, and writes down what became of each CA. The same each time. */
export async function record(): Promise<readonly Life[]> {
  const lives = new Map<string, Life>();
  const durations = { ...DURATIONS, renewBefore: undefined };
  const sim = new Simulation({
    seed: 1,
    durations,
    weather: NOT_WAITING,
    propagationSeconds: PROPAGATION_SECONDS,
    signEveryMs: LEAF_EVERY_MS,
  });
  const life = (fingerprint: string): Life => {
    const letter = String.fromCharCode('A'.charCodeAt(0) + lives.size);
    const made = { letter, phases: [], served: [], servedSince: undefined, leaves: [] };
    const found = lives.get(fingerprint) ?? made;
    lives.set(fingerprint, found);
    return found;
  };
  sim.world.onChange(({ kind, object, at }) => {
    const now = at - START;
    if (kind === 'signer') enter(object as ClusterSigner, life, lives, now);
    if (kind === 'bundle') serve(object as ClusterTrustBundle | undefined, life, lives, now);
  });
  sim.laws.onDelivery = ({ authority, notAfter }) => {
    const at = sim.world.now - START;
    life(authority.facts.fingerprint).leaves.push({ at, notAfter: notAfter - START });
  };
  await sim.run(START + DAYS * DAY);
  return [...lives.values()];
}

type LifeOf = (fingerprint: string) => Life;

function enter(
  { status }: ClusterSigner,
  life: LifeOf,
  lives: ReadonlyMap<string, Life>,
  now: number,
): void {
  const authorities = status?.authorities ?? [];
  for (const { fingerprint, phase } of authorities) {
    const { phases } = life(fingerprint);
    const last = phases.at(-1);
    if (last?.phase === phase) continue;
    if (last !== undefined) last.span.to = now;
    phases.push({ phase, span: { from: now, to: Infinity } });
  }
  const present = new Set(authorities.map(({ fingerprint }) => fingerprint));
  for (const [fingerprint, { phases }] of lives) {
    const last = phases.at(-1);
    if (!present.has(fingerprint) && last?.span.to === Infinity) last.span.to = now;
  }
}

function serve(
  bundle: ClusterTrustBundle | undefined,
  life: LifeOf,
  lives: ReadonlyMap<string, Life>,
  now: number,
): void {
  const anchors = anchorFingerprints(bundle?.spec.trustBundle ?? '');
  const since = bundle === undefined ? new Map<string, number>() : servedSince(bundle);
  for (const anchor of anchors) {
    const found = life(anchor);
    if (found.served.at(-1)?.to !== Infinity) found.served.push({ from: now, to: Infinity });
    const dated = since.get(anchor);
    if (dated !== undefined) found.servedSince ??= dated - START;
  }
  for (const [fingerprint, { served }] of lives) {
    const last = served.at(-1);
    if (!anchors.has(fingerprint) && last?.to === Infinity) last.to = now;
  }
}
