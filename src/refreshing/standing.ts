// SPDX-License-Identifier: Apache-2.0
import { keyOf } from '../api/object/object.ts';
import type { Workload } from '../api/workload/workload.ts';
import type { CurrentLeaf } from './leaf.ts';
import type { OptIn } from './opt-in.ts';
import { CERTIFICATES, parseRecord, type CertificateRecord } from './record.ts';
import type { SecretLeaf } from './secret-leaves.ts';
import {
  usedCredentials,
  type CredentialUse,
  type UsedBundle,
  type UsedCredentials,
} from './used-credentials.ts';
import { nextOpening, type RefreshWindow } from './window.ts';

/** Where the credentials of a namespace come from. */
export interface CredentialSource {
  readonly secret: (namespace: string, name: string) => SecretLeaf;
  /** Undefined while no pod of the namespace is known to have had its credential of the signer renewed. */
  readonly podCertificate: (namespace: string, signerName: string) => CurrentLeaf | undefined;
  /** Undefined where it is not known, or not known to have changed. */
  readonly bundle: (bundle: UsedBundle, recorded: string | undefined) => CurrentLeaf | undefined;
}

/** A credential that is not the one that the workload's pods were last restarted for. */
export interface ChangedCredential {
  /** `secret/web-tls`, `pod-certificate/example.com/workload`, `bundle/example.com:workload:primary`. */
  readonly credential: string;
  readonly leaf: CurrentLeaf;
  readonly use: CredentialUse;
}

/** How an opted-in workload stands with its credentials. Times are milliseconds since the epoch. */
export interface Standing {
  /** `Deployment/team-a/web`. */
  readonly key: string;
  readonly workload: Workload;
  readonly changes: readonly ChangedCredential[];
  /** Why the certificate of a Secret that it uses is not known. */
  readonly unknown: readonly string[];
  /** From then on it may be restarted: its certificates have settled, and its window is open. */
  readonly dueAt: number;
  /** By then it must be, window or not. */
  readonly deadline: number;
  /** What its template will record. */
  readonly record: CertificateRecord;
}

/** When workloads become due. */
export interface DueTimes {
  /** How long after the last change, so that several certificates of one workload make one rollout. */
  readonly debounceMs: number;
  /** Of workloads without one of their own. */
  readonly window: RefreshWindow | undefined;
}

/** A certificate that changes again and again puts the restart off by no more than this many times the debounce. */
const MOST_DEBOUNCES = 10;
/** Of what the certificate before was still valid for: two thirds remain for what goes wrong. */
const WINDOW_SHARE = 1 / 3;

/** The key of a workload among those of all three kinds. */
export function workloadKey({ kind, metadata }: Workload): string {
  return `${kind}/${keyOf(metadata)}`;
}

/** Compares what a workload's template records with what its credentials are. */
export function standingOf(
  workload: Workload,
  { wish, window }: Extract<OptIn, { kind: 'in' }>,
  source: CredentialSource,
  { now, ...times }: DueTimes & { readonly now: number },
): Standing {
  const recorded = parseRecord(workload.spec.template.metadata?.annotations?.[CERTIFICATES]);
  const used = usedCredentials(workload.spec.template);
  const { known, unknown } = secretsOf(workload, used, source);
  const files = wish === 'restart' ? filesOf(workload, used, source, recorded) : [];
  const current = [...known, ...files];
  const changes = current.filter(({ credential, leaf }) => recorded.get(credential) !== leaf.hash);
  const deadline = Math.min(
    Infinity,
    ...changes.map(({ leaf }) => leaf.issuedAt + leaf.remaining * WINDOW_SHARE),
  );
  return {
    key: workloadKey(workload),
    workload,
    changes,
    unknown,
    dueAt: dueAt(changes, { ...times, window: window ?? times.window }, deadline, now),
    deadline,
    record: new Map([
      ...[...recorded].filter(([credential]) => isStillUsed(credential, used)),
      ...current.map(({ credential, leaf }) => [credential, leaf.hash] as const),
    ]),
  };
}

function secretsOf(
  { metadata: { namespace = '' } }: Workload,
  { secrets }: UsedCredentials,
  source: CredentialSource,
): { readonly known: readonly ChangedCredential[]; readonly unknown: readonly string[] } {
  const known: ChangedCredential[] = [];
  const unknown: string[] = [];
  for (const [name, use] of secrets) {
    const found = source.secret(namespace, name);
    if (found.kind === 'known') known.push({ credential: `secret/${name}`, leaf: found.leaf, use });
    if (found.kind === 'unknown') unknown.push(found.message);
  }
  return { known, unknown };
}

/** What the kubelet rewrites; nobody reads it again in the same pod, or the workload would not have asked. */
function filesOf(
  { metadata: { namespace = '' } }: Workload,
  { podCertificates, bundles }: UsedCredentials,
  source: CredentialSource,
  recorded: CertificateRecord,
): readonly ChangedCredential[] {
  const use = { untilPodEnds: true };
  const certificates = [...podCertificates].map((signerName) => ({
    credential: `pod-certificate/${signerName}`,
    leaf: source.podCertificate(namespace, signerName),
  }));
  const anchors = bundles.map((bundle) => {
    const credential = bundleCredential(bundle);
    return { credential, leaf: source.bundle(bundle, recorded.get(credential)) };
  });
  return [...certificates, ...anchors].flatMap(({ credential, leaf }) =>
    leaf === undefined ? [] : [{ credential, leaf, use }],
  );
}

/** `bundle/` and the name of one bundle, or the signer whose bundles they are. */
function bundleCredential({ name, signerName = '' }: UsedBundle): string {
  return `bundle/${name ?? signerName}`;
}

/** What the template does not use any longer leaves the record with the next restart. */
function isStillUsed(
  credential: string,
  { secrets, podCertificates, bundles }: UsedCredentials,
): boolean {
  const slash = credential.indexOf('/');
  const [kind, name] = [credential.slice(0, slash), credential.slice(slash + 1)];
  if (kind === 'secret') return secrets.has(name);
  if (kind === 'pod-certificate') return podCertificates.has(name);
  return bundles.some((each) => bundleCredential(each) === credential);
}

function dueAt(
  changes: readonly ChangedCredential[],
  { debounceMs, window }: DueTimes,
  deadline: number,
  now: number,
): number {
  if (changes.length === 0) return Infinity;
  // A restart gives all pods credentials of their own: to wait for more of those gains nothing.
  const shared = changes.filter(({ leaf }) => leaf.pods === undefined);
  const times = shared.map(({ leaf }) => leaf.issuedAt);
  const settled = Math.min(
    times.length === 0 ? now : Math.max(...times) + debounceMs,
    Math.min(...times) + debounceMs * MOST_DEBOUNCES,
  );
  if (window === undefined) return settled;
  const opening = nextOpening(window, Math.max(settled, now));
  return Math.max(settled, Math.min(opening, deadline));
}
