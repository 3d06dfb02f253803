// SPDX-License-Identifier: Apache-2.0
/**
 * What a component reports about itself, in an annotation of its own Lease (ADR 0032). It lists what fails, since most
 * does not: its size does not grow with the number of signers that are served.
 */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import { keyOf } from '../object/object.ts';
import { isNamespaced } from '../signer/signer.ts';
import type { SignerObject } from '../signer/cluster-signer.ts';
import { conditionMessage, findCondition, type Condition } from '../request/conditions.ts';

/** The annotation of a component's Lease that has its report, as JSON. */
export const SERVING_REPORT = 'countersign.dev/serving';

/** Reason of Ready=False of a signer that some component does not serve, and whose CA is usable. */
export const NOT_SERVED = 'NotServed';

/** Reason of Ready=False of a signer whose CA is usable, and which some component has not looked at yet. */
export const AWAITING_COMPONENTS = 'AwaitingComponents';

/** Reason of a fault that `ledger` reports, and the condition that `authority` makes of it. */
export const UNRECORDED_CERTIFICATE = 'UnrecordedCertificate';

/**
 * Whether `authority` found the CA usable. A component goes on signing although another one does not serve, or has not
 * looked yet: what one reports about itself must not stop the others, nor must the death of `authority` in between.
 */
export function isCaReady(conditions: readonly Condition[] | undefined): boolean {
  const ready = findCondition(conditions, 'Ready');
  if (ready?.status === 'True') return true;
  return ready?.reason === NOT_SERVED || ready?.reason === AWAITING_COMPONENTS;
}

/** Reason of a fault that `trust-distributor` reports: a rotation waits for these targets, but not for ever. */
export const TARGETS_LAGGING = 'TargetsLagging';

/** Reasons of faults that `notifier` reports: a target does not take events, is gone (410), or what is told is not kept. */
export const TARGET_FAILING = 'TargetFailing';
export const TARGET_GONE = 'TargetGone';
export const NOTIFICATIONS_LATE = 'NotificationsLate';
/** All of them: `countersign check` has a check of their own. */
export const NOTIFICATION_FAULTS: readonly string[] = [
  TARGET_FAILING,
  TARGET_GONE,
  NOTIFICATIONS_LATE,
];

/** Something that a component cannot do for a signer. */
export interface ServingFault {
  /** As of a condition: CamelCase. */
  readonly reason: string;
  readonly message: string;
  /** Whether requests wait because of it; otherwise it only needs attention. */
  readonly stops: boolean;
  /** Keys of the signers, `name` or `namespace/name`; absent: all that need the component. */
  readonly signers?: readonly string[];
  /** The generation of the one signer; for another generation the fault does not count. */
  readonly generation?: number;
  /** The expression of the spec: `spec.requests.rules[0].when`. */
  readonly expression?: string;
}

/** A component's report about itself. */
export interface ServingReport {
  /** {@link signersDigest} of the ClusterSigners for which it last checked its permissions. */
  readonly checked: string;
  /** Whether it serves Signers, too. */
  readonly namespaced: boolean;
  readonly faults: readonly ServingFault[];
}

/** UTF-16 units of a whole report. An object's annotations have room for 256 KiB (apimachinery, TotalAnnotationSizeLimitB). */
const MAX_REPORT = 65_536;
const MAX_FAULTS = 128;
/** Bytes. */
const MAX_MESSAGE = 512;
const MAX_TEXT = 256;

/** Of `metav1.Condition`. */
const REASON = /^[A-Za-z]([A-Za-z0-9_,:]{0,126}[A-Za-z0-9_])?$/;

const FAULT = z.object({
  reason: z.string().regex(REASON),
  message: z.string(),
  stops: z.boolean(),
  signers: z.array(z.string()).exactOptional(),
  generation: z.number().exactOptional(),
  expression: z.string().exactOptional(),
});

const REPORT = z.object({
  checked: z.string(),
  namespaced: z.boolean(),
  faults: z.array(FAULT).max(MAX_FAULTS),
});

/** Which ClusterSigners there are: equal for two processes that see the same. */
export function signersDigest(signers: readonly SignerObject[]): string {
  const seen = signers
    .filter((each) => !isNamespaced(each))
    .map(({ metadata, spec }) => `${metadata.uid}/${spec.signerName}`);
  return createHash('sha256').update(seen.sort().join('\n')).digest('base64url').slice(0, 16);
}

/**
 * The report as text of at most 64 KiB. What has no room is left out in the direction that is safe: a list of signers
 * that is too long becomes all signers, and the last faults become one that counts for all. Not so what was found at the
 * work of one signer (it has a `generation`): whoever writes that signer chooses what it says and how long it is, so that it
 * is left out, and counts for nobody else.
 */
export function writeReport(report: ServingReport): string {
  const faults = report.faults.map(boundedFault);
  const checked = withinReport(
    report,
    faults.filter(({ generation }) => generation === undefined),
  );
  let room = MAX_REPORT - JSON.stringify({ ...report, faults: checked }).length;
  const found = faults.filter((each) => {
    if (each.generation === undefined) return false;
    room -= JSON.stringify(each).length + 1;
    return room >= 0;
  });
  const most = MAX_FAULTS - checked.length;
  return JSON.stringify({ ...report, faults: [...checked, ...found.slice(0, most)] });
}

function withinReport(
  report: ServingReport,
  faults: readonly ServingFault[],
): readonly ServingFault[] {
  const whole = atMost(faults, MAX_FAULTS);
  if (JSON.stringify({ ...report, faults: whole }).length <= MAX_REPORT) return whole;
  const general = faults.map(({ signers: _signers, ...fault }) => fault);
  return atMost(general, Math.floor(MAX_REPORT / 2 / (MAX_MESSAGE + 2 * MAX_TEXT)));
}

function boundedFault(fault: ServingFault): ServingFault {
  const { message, expression } = fault;
  return {
    ...fault,
    message: conditionMessage(message, MAX_MESSAGE),
    ...(expression === undefined ? {} : { expression: conditionMessage(expression, MAX_TEXT) }),
  };
}

function atMost(faults: readonly ServingFault[], limit: number): readonly ServingFault[] {
  if (faults.length <= limit) return faults;
  const [first, ...rest] = faults.slice(limit - 1);
  if (first === undefined) return faults;
  const { reason, message } = first;
  const stops = [first, ...rest].some((each) => each.stops);
  const more = { reason, message: `${message}; and ${rest.length} more faults`, stops };
  return [...faults.slice(0, limit - 1), more];
}

/** Reads a report that may be anybody's text; undefined if it is none. */
export function readReport(text: string): ServingReport | undefined {
  if (text.length > MAX_REPORT) return undefined;
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return undefined;
  }
  const { data } = REPORT.safeParse(parsed);
  return data === undefined ? undefined : { ...data, faults: data.faults.map(boundedFault) };
}

/** Those of `report`'s faults that concern this signer. */
export function faultsOf(report: ServingReport, signer: SignerObject): readonly ServingFault[] {
  const key = keyOf(signer.metadata);
  return report.faults.filter(
    ({ signers, generation }) =>
      (signers === undefined || signers.includes(key)) &&
      (generation === undefined || generation === signer.metadata.generation),
  );
}
