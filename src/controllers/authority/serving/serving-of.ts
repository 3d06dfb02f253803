// SPDX-License-Identifier: Apache-2.0
import {
  faultsOf,
  TARGETS_LAGGING,
  UNRECORDED_CERTIFICATE,
  type ServingFault,
} from '../../../api/serving/report.ts';
import type { ClusterSigner } from '../../../api/signer/cluster-signer.ts';
import { isNamespaced } from '../../../api/signer/signer.ts';
import type { ComponentState } from './component-leases.ts';

/** Why it is not known whether a signer is served, or what keeps it from being served. */
export interface ServingFinding {
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: string;
  readonly message: string;
  /** A fault in spite of which requests are answered. */
  readonly attention?: Pick<ServingFault, 'reason' | 'message'>;
  /** Targets of trust that do not have what is published, in words; absent: none is known. */
  readonly laggards?: string;
  /** What the ledger's monitor says; absent: none was ever seen. */
  readonly unrecorded?: MonitorFinding;
}

/** Whether there are certificates of the signer's CAs that the ledger does not know. */
export interface MonitorFinding {
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: string;
  readonly message: string;
}

/** Some component has not looked at the signer yet: what was known before goes on. */
export const LOOKING = 'Looking';
/** Some component does not report: an earlier version, or Leases are off. */
const NOT_REPORTED = 'NotReported';

/** What the finding depends on. */
export interface ServingInput {
  readonly signer: ClusterSigner;
  /** By the subcommand; undefined: nothing is known of it. */
  readonly stateOf: (component: string) => ComponentState | undefined;
  /** Of the ClusterSigners that this process sees. */
  readonly digest: string;
}

/** Whether each component that the signer needs is alive and may serve it. Synchronous and total. */
export function servingOf(input: ServingInput): ServingFinding {
  const unrecorded = unrecordedOf(input);
  const found = { ...servedOf(input), ...(unrecorded === undefined ? {} : { unrecorded }) };
  const laggards = laggardsOf(input);
  if (laggards === undefined) return found;
  const attention = { reason: TARGETS_LAGGING, message: laggards };
  return { attention, ...found, laggards };
}

/** Nothing waits for a distributor that is not alive: it is left out of most installations. */
function laggardsOf({ signer, stateOf }: ServingInput): string | undefined {
  const { replicas = [] } = stateOf('trust-distributor') ?? {};
  return replicas
    .flatMap(({ report }) => (report === undefined ? [] : faultsOf(report, signer)))
    .find(({ reason }) => reason === TARGETS_LAGGING)?.message;
}

/** The monitor is a part of `ledger`; without one nothing is said. */
function unrecordedOf({ signer, stateOf }: ServingInput): MonitorFinding | undefined {
  const state = stateOf('ledger');
  if (state?.installed !== true) return undefined;
  const reports = state.replicas.flatMap(({ report }) => report ?? []);
  if (reports.length === 0) {
    const message = 'ledger does not report: nobody compares certificates with their records';
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
  for (const reason of [LOOKING, NOT_REPORTED]) {
    const open = found
      .filter(({ unknown }) => unknown === reason)
      .map(({ component }) => component);
    if (open.length === 0) continue;
    return {
      status: 'Unknown',
      reason,
      message: `${UNKNOWN[reason]}: ${open.join(', ')}`,
      ...extra,
    };
  }
  const message = `served by ${found.flatMap((each) => (each.needless ? [] : [each.component])).join(', ')}`;
  return { status: 'True', reason: 'Served', message, ...extra };
}

const UNKNOWN: Readonly<Record<string, string>> = {
  [LOOKING]: 'have not looked at it yet',
  [NOT_REPORTED]:
    'not known whether these serve it, since they do not report (Leases are off, or an older version)',
};

/** The components that answer what the spec says is answered. */
function neededBy(signer: ClusterSigner): readonly string[] {
  const { requests, pods, certificateRequests, trustBundle } = signer.spec;
  return [
    ...(requests === undefined ? [] : ['approver', 'signer']),
    ...(pods === undefined ? [] : ['pcr-issuer']),
    ...(certificateRequests === undefined ? [] : [OPTIONAL]),
    ...(trustBundle === undefined || isNamespaced(signer) ? [] : ['attester']),
    'authority',
  ];
}

/** Clusters without cert-manager need not run it. */
const OPTIONAL = 'certificate-request';

interface Look {
  readonly stop?: Pick<ServingFault, 'reason' | 'message'>;
  readonly attention?: Pick<ServingFault, 'reason' | 'message'>;
  readonly unknown?: string;
  /** It is not installed and need not be. */
  readonly needless?: true;
}

function lookAt(input: ServingInput, component: string): Look {
  const state = input.stateOf(component);
  if (state === undefined) return { unknown: NOT_REPORTED };
  if (component === OPTIONAL && !state.installed) return { needless: true };
  if (!state.alive) {
    const message = `no replica of ${component} is alive; look at Deployment countersign-${component}`;
    return { stop: { reason: 'ComponentDown', message } };
  }
  return state.replicas.length === 0
    ? { unknown: LOOKING }
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
  const unseen = isSeen ? {} : { unknown: LOOKING };
  return {
    ...(reports.length < replicas.length ? { unknown: NOT_REPORTED } : unseen),
    ...(stop === undefined ? {} : { stop }),
    ...(attention === undefined ? {} : { attention }),
  };
}

function withoutNamespaces(component: string): ServingFault {
  const message = `${component} runs without --namespaced-signers`;
  return { reason: 'NamespacedSignersOff', message, stops: true };
}

/** The faults of all replicas as one, each message once. */
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
    affected < ofReplicas.length ? ` (${affected} of ${ofReplicas.length} replicas)` : '';
  const messages = [...new Set(matching.flat().map(textOf))];
  return { reason: first.reason, message: `${component}${part}: ${messages.join('; ')}` };
}

function textOf({ message, expression }: ServingFault): string {
  return expression === undefined ? message : `${expression}: ${message}`;
}
