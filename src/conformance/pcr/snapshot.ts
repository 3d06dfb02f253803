// SPDX-License-Identifier: Apache-2.0
import { POD_KEY_TYPES } from '#base/vocabulary.ts';
import { DISCOVERIES, PATCHES, type RequestSnapshot } from '../snapshot.ts';

/**
 * The runner's PodCertificateRequests. A kubelet creates those named `pod…` for the runner's own
 * pods. The runner creates the others, if it may.
 */
export const PCR_SCENARIOS = [
  // Kubelets' requests: ordinary, without maxExpirationSeconds, with the annotations of the
  // profile.
  'pod',
  'podDefault',
  'podAnnotated',
  // A kubelet's request, for a pod that no Service selects.
  'podUnserved',
  // The runner's requests: ordinary, another key of the same pod, and with labels and annotations
  // of its own.
  'plain',
  'again',
  'labelled',
  'deleted',
  'foreign',
  'longerName',
  // Lifetimes: none, and 91 days.
  'noLifetime',
  'days91',
  // Contents that a stub must not have.
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

/** Operations on pods in upstream's conformance tests. */
const PCR_POD_OPERATIONS = [
  'podStarts',
  'annotationsArrive',
  'mutualTls',
  'tooLong',
  'tooShort',
] as const;

/** Calls of the API itself, as in upstream's conformance test. */
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

/** All operations on pods and on the API itself. Each is a case. */
export const PCR_OPERATIONS = [...PCR_POD_OPERATIONS, ...DISCOVERIES, ...PCR_CALLS] as const;

/** One of {@link PCR_OPERATIONS}. */
export type PcrOperation = (typeof PCR_OPERATIONS)[number];

/** The observations of one run of a signer of PodCertificateRequests. */
export type PcrSnapshot = RequestSnapshot<PcrScenario, PcrOperation>;
