// SPDX-License-Identifier: Apache-2.0
import { issuedOf, isVerdict, type Issued } from './issued-leaf.ts';
import type { Certificate } from '../pki/x509/certificate.ts';
import { skip, type Verdict } from './case.ts';
import type { Profile } from './profile.ts';
import { isSkipped, type Scene, type Skipped, type Trial } from './observed-request.ts';

/** CA certificates that a verifier has, and where it has them from. */
export interface Anchors {
  readonly certificates: readonly Certificate[];
  /** `ClusterTrustBundle example.com:workload:primary`, or a file's name. */
  readonly from: string;
}

/** One call of Kubernetes' own API tests, made again. */
export interface Operation {
  /** What came of it, in a sentence; a fault says what was wrong instead. */
  readonly seen?: string;
  readonly fault?: string;
  readonly skipped?: string;
}

/** What was observed of one signer through one kind of requests. */
export interface RequestWorld<S extends string, O extends string = never> {
  readonly signerName: string;
  readonly profile: Profile;
  readonly scenes: Readonly<Record<S, Scene>>;
  /** Requests made at once. */
  readonly burst: readonly Trial[] | Skipped;
  readonly anchors: Anchors | Skipped;
  readonly operations: Readonly<Record<O, Operation>>;
}

/** What laws need of a world whatever its scenes are called. */
export type Around = Pick<RequestWorld<never>, 'signerName' | 'profile' | 'anchors'>;

/** A law about a certificate: what it says of an issued one. */
export type LeafLaw = (issued: Issued, around: Around) => Verdict;

/** A law about a request, whatever became of it. */
export type TrialLaw = (trial: Trial, around: Around) => Verdict;

type Scenes<S extends string> = Around & { readonly scenes: Readonly<Record<S, Scene>> };

/** Judges the certificate of a scene; without one the case is skipped. */
export function onLeaf<S extends string>(scene: S, law: LeafLaw): (world: Scenes<S>) => Verdict {
  return (world) => {
    const issued = issuedOf(world.scenes[scene]);
    return isVerdict(issued) ? issued : law(issued, world);
  };
}

/** Judges a scene that took place, also where the API server refused the request. */
export function onTrial<S extends string>(scene: S, law: TrialLaw): (world: Scenes<S>) => Verdict {
  return (world) => {
    const found = world.scenes[scene];
    return isSkipped(found) ? skip(found.skipped) : law(found, world);
  };
}

/** Judges two scenes beside each other. */
export function onBoth<S extends string>(
  scene: S,
  other: S,
  law: (trial: Trial, other: Trial) => Verdict,
): (world: Scenes<S>) => Verdict {
  return ({ scenes }) => {
    const [first, second] = [scenes[scene], scenes[other]];
    if (isSkipped(first)) return skip(first.skipped);
    return isSkipped(second) ? skip(second.skipped) : law(first, second);
  };
}

/** Judges what became of the others once a request was deleted. */
export function onceDeleted<W extends { readonly scenes: { readonly deleted: Scene } }>(
  judge: (world: W) => Verdict,
): (world: W) => Verdict {
  return (world) => {
    const { deleted } = world.scenes;
    return isSkipped(deleted) ? skip(deleted.skipped) : judge(world);
  };
}

/** Judges all scenes that took place, and the burst. */
export function onAll<S extends string>(
  law: (trials: readonly Trial[], around: Around) => Verdict,
): (world: Pick<RequestWorld<S>, 'scenes' | 'burst'> & Around) => Verdict {
  return (world) => {
    const scenes: readonly Scene[] = Object.values(world.scenes);
    const burst = isSkipped(world.burst) ? [] : world.burst;
    const trials = [...scenes.filter(tookPlace), ...burst];
    if (trials.length > 0) return law(trials, world);
    return skip('no request could be made');
  };
}

function tookPlace(scene: Scene): scene is Trial {
  return !isSkipped(scene);
}

/** Judges the requests that were made at once. */
export function onBurst(
  law: (trials: readonly Trial[], around: Around) => Verdict,
): (world: Pick<RequestWorld<never>, 'burst'> & Around) => Verdict {
  return (world) => (isSkipped(world.burst) ? skip(world.burst.skipped) : law(world.burst, world));
}

/** Judges a call of the API itself. */
export function onOperation<O extends string>(
  name: O,
): (world: { readonly operations: Readonly<Record<O, Operation>> }) => Verdict {
  return ({ operations }) => {
    const { seen, fault, skipped } = operations[name];
    if (skipped !== undefined) return skip(skipped);
    if (fault !== undefined) return { outcome: 'fail', evidence: fault };
    return { outcome: 'pass', evidence: seen ?? '' };
  };
}
