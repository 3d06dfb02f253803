// SPDX-License-Identifier: Apache-2.0
import { hasTrueCondition, findCondition, type Condition } from '../../api/conditions.ts';
import type { KubeObject } from '../../api/object.ts';
import { frameOf } from '../frame.ts';
import type { Snapshot, State } from '../trial.ts';

/** `cert-manager.io/v1` CertificateRequest, as far as the kit reads and writes it. */
export interface CertificateRequest extends KubeObject {
  readonly spec: {
    /** base64 of PEM. */
    readonly request: string;
    readonly issuerRef: { readonly name: string; readonly kind?: string; readonly group?: string };
    /** Go duration. */
    readonly duration?: string;
    readonly isCA?: boolean;
    readonly usages?: readonly string[];
  };
  readonly status?: {
    readonly conditions?: readonly Condition[];
    /** base64 of PEM. */
    readonly certificate?: string;
    readonly ca?: string;
    /** RFC 3339. */
    readonly failureTime?: string;
  };
}

/** A version of a CertificateRequest, `at` milliseconds after its creation. */
export function crSnapshot(request: CertificateRequest, at: number): Snapshot {
  const { status, metadata } = request;
  return {
    at,
    resourceVersion: metadata.resourceVersion,
    state: stateOf(request),
    conditions: status?.conditions ?? [],
    pem: pemOf(status?.certificate),
    frame: frameOf(request),
    ca: pemOf(status?.ca),
    failureTime: status?.failureTime ?? '',
  };
}

function pemOf(base64: string | undefined): string {
  return Buffer.from(base64 ?? '', 'base64').toString('latin1');
}

/** Reasons of Ready=False that are final (CertificateRequestCondition). */
const FINAL: ReadonlyMap<string | undefined, State> = new Map([
  ['Denied', 'denied'],
  ['Failed', 'failed'],
]);

function stateOf({ status = {} }: CertificateRequest): State {
  const { conditions } = status;
  if (pemOf(status.certificate) !== '') return 'issued';
  return endOf(conditions) ?? (hasTrueCondition(conditions, 'Approved') ? 'approved' : 'pending');
}

function endOf(conditions: readonly Condition[] | undefined): State | undefined {
  const ready = findCondition(conditions, 'Ready');
  const final = ready?.status === 'False' ? FINAL.get(ready.reason) : undefined;
  if (final !== undefined) return final;
  if (hasTrueCondition(conditions, 'InvalidRequest')) return 'failed';
  return hasTrueCondition(conditions, 'Denied') ? 'denied' : undefined;
}
