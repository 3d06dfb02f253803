// SPDX-License-Identifier: Apache-2.0
import {
  faultsOf,
  TARGETS_LAGGING,
  UNRECORDED_CERTIFICATE,
  type ServingFault,
} from '#api/serving/report.ts';
import { servesSigningRequests, type ClusterSigner } from '#api/signer/cluster-signer.ts';
import { isNamespaced } from '#api/signer/signer.ts';
import type { ComponentState } from './component-leases.ts';
import { mergeRightsTexts } from '#component/rbac/rights-faults.ts';
import * as messages from '../messages.ts';

/** Finding on the components of a signer: whether they serve it, and the reason. */
export interface ServingFinding {
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: string;
  readonly message: string;
  /** A fault in spite of which requests are answered. */
  readonly attention?: Pick<ServingFault, 'reason' | 'message'>;
  /** Text on targets of trust that lack what is published. Absent if there are none. */
  readonly laggards?: string;
  /** Finding of the ledger's monitor. Absent if no monitor was ever seen. */
  readonly unrecorded?: MonitorFinding;
}

/** Reports whether the signer's CAs have certificates that the ledger does not know. */
export interface MonitorFinding {
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: string;
  readonly message: string;
}

/** A component has not observed the signer yet, so the previous finding stays. */
export const OBSERVATION_PENDING = 'ObservationPending';
/** A component does not report: it has an earlier version, or Leases are off. */
const NOT_REPORTED = 'NotReported';

/** Inputs of the finding. */
export interface ServingInput {
  readonly signer: ClusterSigner;
  /** Returns the state of a component by its subcommand, or undefined if it is unknown. */
  readonly stateOf: (component: string) => ComponentState | undefined;
  /** Digest of the ClusterSigners that this process sees. */
  readonly digest: string;
}

/**
 * Reports whether each component that the signer needs is alive and may serve it. Synchronous and
 * total.
 */
export function servingOf(input: ServingInput): ServingFinding {
  const unrecorded = unrecordedOf(input);
  const found = { ...servedOf(input), ...(unrecorded === undefined ? {} : { unrecorded }) };
  const laggards = laggardsOf(input);
  if (laggards === undefined) return found;
  const attention = { reason: TARGETS_LAGGING, message: laggards };
  return { attention, ...found, laggards };
}

/**
 * Returns the lagging targets. A distributor without live replicas causes no wait, since most
 * installations omit it.
 */
function laggardsOf({ signer, stateOf }: ServingInput): string | undefined {
  const { replicas = [] } = stateOf('trust-distributor') ?? {};
  return replicas
    .flatMap(({ report }) => (report === undefined ? [] : faultsOf(report, signer)))
    .find(({ reason }) => reason === TARGETS_LAGGING)?.message;
}

/** Returns the finding of the monitor, which is a part of `ledger`, or undefined without one. */
function unrecordedOf({ signer, stateOf }: ServingInput): MonitorFinding | undefined {
  const state = stateOf('ledger');
  if (state?.installed !== true) return undefined;
  const reports = state.replicas.flatMap(({ report }) => report ?? []);
  if (reports.length === 0) {
    const message = messages.LEDGER_SILENT;
    return { status: 'Unknown', reason: 'NotMonitored', message };
  }
  const fault = reports
    .flatMap((report) => faultsOf(report, signer))
    .find(({ reason }) => reason === UNRECORDED_CERTIFICATE);
  return fault === undefined
    ? { status: 'False', reason: 'NoneFound', message: '' }
    : { status: 'True', reason: 'Found', message: fault.message };
}

function servedOf(input: ServingInput): ServingFinding {
  const found = neededBy(input.signer).map((component) => ({
    component,
    ...lookAt(input, component),
  }));
  const attention = found.flatMap((each) => each.attention ?? [])[0];
  const extra = attention === undefined ? {} : { attention };
  const stopped = found.filter(({ stop }) => stop !== undefined);
  const [first] = stopped;
  if (first?.stop !== undefined) {
    const message = stopped.map(({ stop }) => stop?.message ?? '').join('; ');
    return { status: 'False', reason: first.stop.reason, message, ...extra };
  }
  for (const reason of [OBSERVATION_PENDING, NOT_REPORTED]) {
    const open = found
      .filter(({ unknown }) => unknown === reason)
      .map(({ component }) => component);
    if (open.length === 0) continue;
    return {
      status: 'Unknown',
      reason,
      message: messages.unserved(UNKNOWN[reason] ?? '', open),
      ...extra,
    };
  }
  const message = messages.servedBy(
    found.flatMap((each) => (each.needless ? [] : [each.component])).join(', '),
  );
  return { status: 'True', reason: 'Served', message, ...extra };
}

const UNKNOWN: Readonly<Record<string, string>> = {
  [OBSERVATION_PENDING]: messages.NOT_OBSERVED,
  [NOT_REPORTED]: messages.NOT_REPORTED,
};

/** Returns the components that answer the kinds of requests in the spec. */
function neededBy(signer: ClusterSigner): readonly string[] {
  const { pods, certificateRequests, trustBundle } = signer.spec;
  return [
    ...(servesSigningRequests(signer.spec) ? ['approver', 'signer'] : []),
    ...(pods === undefined ? [] : ['pcr-issuer']),
    ...(certificateRequests === undefined ? [] : [OPTIONAL]),
    ...(trustBundle === undefined || isNamespaced(signer) ? [] : ['attester']),
    'authority',
  ];
}

/** Optional, since only clusters with cert-manager need it. */
const OPTIONAL = 'certificate-request';

interface Look {
  readonly stop?: Pick<ServingFault, 'reason' | 'message'>;
  readonly attention?: Pick<ServingFault, 'reason' | 'message'>;
  readonly unknown?: string;
  /** True if the component is not installed and need not be. */
  readonly needless?: true;
}

function lookAt(input: ServingInput, component: string): Look {
  const state = input.stateOf(component);
  if (state === undefined) return { unknown: NOT_REPORTED };
  if (component === OPTIONAL && !state.installed) return { needless: true };
  if (!state.alive) {
    const message =
      component === OPTIONAL ? messages.optionalDown(component) : messages.componentDown(component);
    return { stop: { reason: 'ComponentDown', message } };
  }
  return state.replicas.length === 0
    ? { unknown: OBSERVATION_PENDING }
    : lookAtReplicas(input, component, state);
}

function lookAtReplicas(
  { signer, digest }: ServingInput,
  component: string,
  { replicas }: ComponentState,
): Look {
  const reports = replicas.flatMap(({ report }) => report ?? []);
  const faults = reports.map((report) =>
    isNamespaced(signer) && !report.namespaced
      ? [withoutNamespaces(component)]
      : faultsOf(report, signer),
  );
  const stop = summary(component, faults, true);
  const attention = summary(component, faults, false);
  const isSeen = isNamespaced(signer) || reports.every(({ checked }) => checked === digest);
  const unseen = isSeen ? {} : { unknown: OBSERVATION_PENDING };
  return {
    ...(reports.length < replicas.length ? { unknown: NOT_REPORTED } : unseen),
    ...(stop === undefined ? {} : { stop }),
    ...(attention === undefined ? {} : { attention }),
  };
}

function withoutNamespaces(component: string): ServingFault {
  const message = messages.namespacedSignersOff(component);
  return { reason: 'NamespacedSignersOff', message, stops: true };
}

/** Merges the faults of all replicas into one, without duplicate messages. */
function summary(
  component: string,
  ofReplicas: readonly (readonly ServingFault[])[],
  stops: boolean,
): Pick<ServingFault, 'reason' | 'message'> | undefined {
  const matching = ofReplicas.map((faults) => faults.filter((each) => each.stops === stops));
  const affected = matching.filter((faults) => faults.length > 0).length;
  const [first] = matching.flat();
  if (first === undefined) return undefined;
  const part =
    affected < ofReplicas.length ? messages.affectedReplicas(affected, ofReplicas.length) : '';
  const isOfNames = matching.flat().every(({ signers }) => signers !== undefined);
  const texts = [...new Set(matching.flat().map(textOf))];
  const faults = mergeRightsTexts(component, texts, isOfNames);
  return { reason: first.reason, message: messages.componentFault(component, part, faults) };
}

function textOf({ message, expression }: ServingFault): string {
  return expression === undefined ? message : messages.expressionFault(expression, message);
}
