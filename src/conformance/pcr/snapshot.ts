// SPDX-License-Identifier: Apache-2.0
import { POD_KEY_TYPES } from '../../vocabulary.ts';
import { DISCOVERIES, PATCHES, type RequestSnapshot } from '../snapshot.ts';

/**
 * The runner's PodCertificateRequests. Those of a `pod` are made by a kubelet for the runner's own pods; the
 * others by the runner itself, where it may.
 */
export const PCR_SCENARIOS = [
  // Kubelets': ordinary, without maxExpirationSeconds, with the annotations of the profile.
  'pod',
  'podDefault',
  'podAnnotated',
  // A kubelet's, for a pod that no Service selects.
  'podUnserved',
  // The runner's: ordinary, another key of the same pod, and with labels and annotations of its own.
  'plain',
  'again',
  'labelled',
  'deleted',
  'foreign',
  'longerName',
  // Lifetimes: none, and 91 days.
  'noLifetime',
  'days91',
  // What a stub may not hold.
  'stubSubject',
  'stubNames',
  'stubAuthority',
  'stubUnknown',
  // Annotations: an unknown key, and the path of another workload.
  'unknownAnnotation',
  'foreignPath',
  ...POD_KEY_TYPES,
] as const;

/** One of {@link PCR_SCENARIOS}. */
export type PcrScenario = (typeof PCR_SCENARIOS)[number];

/** What upstream's conformance tests make of pods. */
const PCR_POD_OPERATIONS = [
  'podStarts',
  'annotationsArrive',
  'mutualTls',
  'tooLong',
  'tooShort',
] as const;

/** Calls of the API itself, as upstream's conformance test makes them. */
export const PCR_CALLS = [
  'create',
  'read',
  'listAndWatch',
  'update',
  ...PATCHES,
  'readStatus',
  'updateStatus',
  ...PATCHES.map((how) => `${how}Status` as const),
  'delete',
  'deleteCollection',
] as const;

/** One of {@link PCR_CALLS}. */
export type PcrCall = (typeof PCR_CALLS)[number];

/** All that the runner tries of pods and of the API itself; each is a case. */
export const PCR_OPERATIONS = [...PCR_POD_OPERATIONS, ...DISCOVERIES, ...PCR_CALLS] as const;

/** One of {@link PCR_OPERATIONS}. */
export type PcrOperation = (typeof PCR_OPERATIONS)[number];

/** What one run observed of a signer of PodCertificateRequests. */
export type PcrSnapshot = RequestSnapshot<PcrScenario, PcrOperation>;
