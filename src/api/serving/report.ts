// SPDX-License-Identifier: Apache-2.0
/**
 * The report of a component about itself, in an annotation of its own Lease (ADR 0032). It lists
 * only failures, which are few, so that its size does not grow with the number of signers.
 */
import { createHash } from 'node:crypto';
import * as z from 'zod';
import { keyOf } from '../object/object.ts';
import { isNamespaced } from '../signer/signer.ts';
import type { SignerObject } from '../signer/cluster-signer.ts';
import { conditionMessage, findCondition, type Condition } from '../request/conditions.ts';

/** Annotation of a component's Lease with its report, as JSON. */
export const SERVING_REPORT = 'countersign.dev/serving';

/** Reason of Degraded: some verifiers reject the CA's leaves because of its chain or anchors. */
export const ANCHOR_REJECTED = 'AnchorRejected';

/** Reason of Ready=False of a signer with a usable CA that some component does not serve. */
export const NOT_SERVED = 'NotServed';

/** Reason of Ready=False of a signer with a usable CA that some component has not checked yet. */
export const AWAITING_COMPONENTS = 'AwaitingComponents';

/**
 * Reason of Ready=False after the CA Secret was deleted: no component has the key of the previous
 * CA, and the new CA may not sign yet.
 */
export const KEY_LOST = 'KeyLost';

/** Reason of a fault that `ledger` reports, and the condition that `authority` derives from it. */
export const UNRECORDED_CERTIFICATE = 'UnrecordedCertificate';

/** Message of Ready=False with the reason `NotServed` of each signer after an uninstallation. */
export const UNINSTALLED = 'Countersign was uninstalled: no component serves this signer';

/**
 * Reports whether `authority` found the CA usable. A component continues to sign although another
 * one does not serve, or has not checked yet. One component's report must not stop the others, nor
 * must a crash of `authority` in between. After a loss of the key, each component signs once the
 * anchor of the new CA has been published for long enough, even if `authority` does not run.
 */
export function isCaReady(conditions: readonly Condition[] | undefined): boolean {
  const ready = findCondition(conditions, 'Ready');
  if (ready?.status === 'True') return true;
  return [NOT_SERVED, AWAITING_COMPONENTS, KEY_LOST].includes(ready?.reason ?? '');
}

/**
 * Reason of a fault that `trust-distributor` reports. A rotation waits for these targets, but not
 * indefinitely.
 */
export const TARGETS_LAGGING = 'TargetsLagging';

/**
 * Reasons of faults that `notifier` reports: a target rejects events, a target is gone (410), or an
 * event cannot be stored.
 */
export const TARGET_FAILING = 'TargetFailing';
export const TARGET_GONE = 'TargetGone';
export const NOTIFICATIONS_LATE = 'NotificationsLate';
/** Reason of a fault that `authority` reports: a CRL cannot be signed or written. */
export const CRL_NOT_SIGNED = 'CrlNotSigned';

/** Faults for which `countersign check` has its own check. */
export const NOTIFICATION_FAULTS: readonly string[] = [
  TARGET_FAILING,
  TARGET_GONE,
  NOTIFICATIONS_LATE,
];

/**
 * Reasons of faults that a component reports of the key holder beside it: it does not answer, the
 * PKCS#11 token of the key cannot be used, it has no key of the signer's CA, or it refused a leaf
 * that the signer allows.
 */
export const HOLDER_UNAVAILABLE = 'KeyHolderUnavailable';
export const HOLDER_TOKEN_UNAVAILABLE = 'KeyHolderTokenUnavailable';
export const HOLDER_KEY_WRONG = 'KeyHolderKeyWrong';
export const HOLDER_REFUSED = 'KeyHolderRefused';

/** Something that a component cannot do for a signer. */
export interface ServingFault {
  /** Reason in CamelCase, as in a condition. */
  readonly reason: string;
  readonly message: string;
  /** Requests wait because of the fault. Otherwise it only needs attention. */
  readonly stops: boolean;
  /**
   * Keys of the signers, `name` or `namespace/name`. If absent, the fault concerns all signers that
   * need the component.
   */
  readonly signers?: readonly string[];
  /** Generation of the one signer. The fault does not count for another generation. */
  readonly generation?: number;
  /** The expression of the spec: `spec.requests.rules[0].when`. */
  readonly expression?: string;
}

/** A component's report about itself. */
export interface ServingReport {
  /** {@link signersDigest} of the ClusterSigners for which it last checked its permissions. */
  readonly checked: string;
  /** The component also serves Signers. */
  readonly namespaced: boolean;
  readonly faults: readonly ServingFault[];
}

/**
 * Limit of a whole report in UTF-16 units. An object's annotations have room for 256 KiB
 * (apimachinery, TotalAnnotationSizeLimitB).
 */
const MAX_REPORT = 65_536;
const MAX_FAULTS = 128;
/** Limit in bytes. */
const MAX_MESSAGE = 512;
const MAX_TEXT = 256;

/** Reason of a `metav1.Condition`. */
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

/**
 * Returns a digest of the ClusterSigners. Two processes that see the same ClusterSigners get the
 * same digest.
 */
export function signersDigest(signers: readonly SignerObject[]): string {
  const seen = signers
    .filter((each) => !isNamespaced(each))
    .map(({ metadata, spec }) => `${metadata.uid}/${spec.signerName}`);
  return createHash('sha256').update(seen.sort().join('\n')).digest('base64url').slice(0, 16);
}

/**
 * Returns the report as text of at most 64 KiB. It drops what does not fit on the safe side: too
 * long a list of signers becomes all signers, and the last faults become one fault for all signers.
 * Faults of one signer's spec (with a `generation`) are the exception. The user who writes that
 * signer chooses their text and length, so they are dropped and affect no other signer.
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

/** Reads an untrusted report. Returns undefined if it is invalid. */
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

/** Returns those of `report`'s faults that concern this signer. */
export function faultsOf(report: ServingReport, signer: SignerObject): readonly ServingFault[] {
  const key = keyOf(signer.metadata);
  return report.faults.filter(
    ({ signers, generation }) =>
      (signers === undefined || signers.includes(key)) &&
      (generation === undefined || generation === signer.metadata.generation),
  );
}
