// SPDX-License-Identifier: Apache-2.0
/** One ClusterSigner, its CAs in any phase, and its bundle, an hour after the first of 2026. */
import type {
  AuthorityPhase,
  AuthorityStatus,
  ManagedAuthority,
} from '#api/signer/cluster-signer.ts';
import { SERVED_SINCE, type ClusterTrustBundle } from '#api/object/cluster-trust-bundle.ts';
import type { Condition } from '#api/request/conditions.ts';
import type { KubeObject } from '#api/object/object.ts';
import { unresolvedErrors, type ChangePlan } from '#operations/change-plan.ts';
import type { ReadBundle, SignerState } from '#operations/signer-state.ts';
import { fingerprint } from '#pki/x509/certificate.ts';
import { encodePem } from '#pki/der/pem.ts';
import { ca, link, usage, type Link, keyIds } from '../support/pki/chain.ts';
import { clusterSigner, workloadSpec } from '../support/signers/cluster-signer.ts';
import { readClusterSigner } from '#api/signer/read-signer.ts';

export const NOW = Date.UTC(2026, 0, 1, 1);
export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;
export const at = (offset: number): string =>
  new Date(NOW + offset).toISOString().replace('.000', '');

/** CAs that differ in nothing but their name and key. */
export const LINKS: Readonly<Record<'a' | 'b' | 'c' | 'd', Link>> = {
  a: authority('CA a'),
  b: authority('CA b'),
  c: authority('CA c'),
  d: authority('CA d'),
};
export type Name = keyof typeof LINKS;

function authority(name: string): Link {
  return link(name, { extensions: [ca(0), usage(), ...keyIds(name)] });
}

export const print = (name: Name): string => fingerprint(LINKS[name].certificate.raw);
export const pem = (name: Name): string => encodePem('CERTIFICATE', LINKS[name].certificate.raw);

export interface Wanted {
  readonly authorities?: Readonly<Partial<Record<Name, AuthorityPhase>>>;
  readonly authorityFields?: Partial<AuthorityStatus>;
  /** Minutes that each anchor has been served; those that are left out are not. */
  readonly served?: Readonly<Partial<Record<Name, number>>>;
  readonly bundle?: ReadBundle;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly managed?: Partial<ManagedAuthority>;
  /** Replaces members of the spec; undefined takes one away. */
  readonly spec?: Readonly<Record<string, unknown>>;
  readonly conditions?: readonly Condition[];
  /** Anchors of earlier ClusterSigners, and until when each is kept. */
  readonly retained?: Readonly<Partial<Record<Name, string>>>;
  readonly observed?: number;
}

const READY: Condition = { type: 'Ready', status: 'True', reason: 'Checked', message: '' };

/** By default CA `a` signs and has been served for an hour. */
export function state(wanted: Wanted = {}): SignerState {
  const base = workloadSpec();
  const { managed } = base['authority'] as { managed: object };
  const spec = {
    ...base,
    authority: { managed: { ...managed, ...wanted.managed } },
    ...wanted.spec,
  };
  // As the API server would have it: without what is undefined.
  const object = clusterSigner(JSON.parse(JSON.stringify(spec)));
  const { authorities = { a: 'Active' }, observed = 1, conditions = [READY] } = wanted;
  const signer = readClusterSigner({
    ...object,
    metadata: { ...object.metadata, annotations: wanted.annotations ?? {} },
    status: {
      observedGeneration: observed,
      conditions,
      authorities: Object.entries(authorities).map(([name, phase]) =>
        entry(name as Name, phase, wanted.authorityFields),
      ),
      retainedAnchors: Object.entries(wanted.retained ?? {}).map(([name, until]) => ({
        fingerprint: print(name as Name),
        until,
        anchor: pem(name as Name),
      })),
    },
  });
  const bundle = 'bundle' in wanted ? wanted.bundle : bundleOf(wanted.served ?? { a: 60 });
  return { signer, bundle, propagationSeconds: 600, now: NOW };
}

/** A CA of a year, whose last leaf ends in twelve hours if it signs no more. */
export function entry(
  name: Name,
  phase: AuthorityPhase,
  more: Partial<AuthorityStatus> = {},
): AuthorityStatus {
  const signsNoMore = phase === 'Retiring' || phase === 'Distrusted';
  return {
    fingerprint: print(name),
    phase,
    notBefore: at(-HOUR),
    notAfter: at(8760 * HOUR),
    longestLeaf: '24h',
    ...(signsNoMore ? { leavesExpireBy: at(12 * HOUR) } : {}),
    anchors: pem(name),
    ...more,
  };
}

export function bundleOf(served: Readonly<Partial<Record<Name, number>>>): ClusterTrustBundle {
  const names = Object.keys(served) as Name[];
  const since = names.map((name) => [print(name), at(-(served[name] ?? 0) * MINUTE)]);
  return {
    ...(clusterSigner({}) as KubeObject),
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'ClusterTrustBundle',
    metadata: {
      ...clusterSigner({}).metadata,
      annotations: { [SERVED_SINCE]: JSON.stringify(Object.fromEntries(since)) },
    },
    spec: { signerName: 'example.com/workload', trustBundle: names.map(pem).join('') },
  };
}

/** The user's own CA in place of a managed one. */
export const OWN = { authority: { secret: { namespace: 'countersign-keys', name: 'corp-ca' } } };

/** `go`, `nothing` to do, `refused` unless forced, or `never`. */
export function verdictOf(plan: ChangePlan): 'go' | 'nothing' | 'refused' | 'never' {
  if (unresolvedErrors(plan, true).length > 0) return 'never';
  if (unresolvedErrors(plan, false).length > 0) return 'refused';
  return plan.change === undefined ? 'nothing' : 'go';
}

/** All messages of the plan, one a line. */
export function wordsOf({ preflightErrors, notes }: ChangePlan): string {
  return [...preflightErrors.map(({ message }) => message), ...notes].join('\n');
}
