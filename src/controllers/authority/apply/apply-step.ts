// SPDX-License-Identifier: Apache-2.0
import {
  secretOf,
  type ClusterSigner,
  type ManagedAuthority,
} from '../../../api/signer/cluster-signer.ts';
import { parseDuration } from '../../../api/object/duration.ts';
import type { Secret } from '../../../api/object/object.ts';
import { parseTime } from '../../../api/object/time.ts';
import type {
  AuthorityMaterial,
  CreateAuthority,
  CrossSign,
} from '../../../authorities/contract.ts';
import { SignerError, attempt } from '../../../errors.ts';
import { CA_BACKDATE_SECONDS } from '../../../issuance/ca-certificate.ts';
import type { Client } from '../../../kube/client/client.ts';
import { KubeError } from '../../../kube/client/kube-error.ts';
import { SECRETS } from '../../../kube/resource/core-v1.ts';
import {
  decodeCertificate,
  fingerprint,
  readCertificates,
  type Certificate,
} from '../../../pki/x509/certificate.ts';
import { decodePem } from '../../../pki/der/pem.ts';
import type { CrossRecord } from '../../../rotation/cross-records.ts';
import { distrustedCas } from '../../../rotation/distrusted-cas.ts';
import type { RotationStep } from '../../../rotation/next-step.ts';
import { hasRoomForCross } from '../../../rotation/trust-memory.ts';
import { readAnchors } from '../../../pki/x509/trust-bundle.ts';
import {
  intoNext,
  intoTls,
  ownAnnotations,
  ownLabels,
  withoutCross,
  withRetired,
  withoutNext,
  withoutRetired,
  type NewAuthority,
  type SecretChange,
} from './managed-secret.ts';
import { JSON_PATCH, secretPatch } from './secret-patch.ts';
import { slotMaterial } from '../decide/inspect.ts';
import { keepUntil, keepsRetiredKeys } from '../decide/retired-keys.ts';

export interface ApplyStepInit {
  readonly client: Client;
  readonly create: CreateAuthority;
  /** Absent: no CA's key is certified by the CA before it. */
  readonly crossSign?: CrossSign;
  /** The version of Countersign; the Secret's label says which version wrote it last. */
  readonly version: string;
}

export interface ApplyStepInput {
  readonly signer: ClusterSigner;
  readonly managed: ManagedAuthority;
  /** As it was when the decision was made; undefined if it is missing. */
  readonly secret: Secret | undefined;
  readonly step: RotationStep;
  readonly now: number;
}

/**
 * One phase change, one write: a Secret is created, never overwritten, or patched with the version that was
 * read as precondition.
 *
 * @returns the Secret as it is now, or undefined where another client created it first
 * @throws KubeError
 */
export async function applyStep(
  init: ApplyStepInit,
  input: ApplyStepInput,
): Promise<Secret | undefined> {
  const { signer, secret } = input;
  const change = { ...(await changeOf(init, input)), labels: ownLabels(signer, init.version) };
  return secret === undefined
    ? create(init, input, change)
    : init.client.request<Secret>({
        method: 'PATCH',
        path: SECRETS.object(secret.metadata),
        contentType: JSON_PATCH,
        body: secretPatch(secret, change),
      });
}

async function changeOf(
  init: ApplyStepInit,
  input: ApplyStepInput,
): Promise<Omit<SecretChange, 'labels'>> {
  const { signer, step, secret, managed, now } = input;
  const durationSeconds = parseDuration(managed.duration);
  if (step.kind === 'discard') return retiring(input, withoutNext(), 'next');
  if (step.kind === 'withdraw') return withoutCross();
  if (step.kind === 'drop') return withoutRetired([...step.atOnce, ...step.byTime]);
  if (step.kind === 'activate' && secret !== undefined) {
    const material = slotMaterial(secret, 'next');
    const cross = await crossOf(init, input, slotMaterial(secret, 'tls'), material);
    const made = { ...newAuthority(material), durationSeconds };
    const records = [...recordsOf(signer), ...recordOf(cross, made.fingerprint)];
    return retiring(input, intoTls(made, { now, atOnce: false, cross, records }), 'tls');
  }
  const material = await init.create({
    keyType: managed.keyType,
    commonName: managed.commonName,
    durationSeconds,
    crossSigned: managed.crossSigned,
    now: unusedBirthSecond(input),
  });
  const made = { ...newAuthority(material), durationSeconds };
  if (step.kind === 'make' && step.slot === 'next') return retiring(input, intoNext(made), 'next');
  const atOnce = step.kind === 'make' && step.atOnce;
  const change = intoTls(made, { now, atOnce, cross: undefined, records: recordsOf(signer) });
  return retiring(input, change, 'tls');
}

/**
 * The CA that `change` takes out of its slot keeps its key, where CRLs are signed and it is not distrusted. One that was
 * only prepared has signed nothing, but a status that lists it as Retiring cannot say so.
 */
function retiring(
  { signer, secret, now }: ApplyStepInput,
  change: Omit<SecretChange, 'labels'>,
  slot: 'tls' | 'next',
): Omit<SecretChange, 'labels'> {
  if (secret === undefined || !keepsRetiredKeys(signer)) return change;
  const material = slotMaterial(secret, slot);
  const certificate = firstOf(material);
  // What cannot be read, or has no key, signs nothing.
  if (certificate === undefined || material.key === '') return change;
  const old = fingerprint(certificate.raw);
  if (now >= certificate.notAfter || isStolen(signer, secret, old)) return change;
  const until = keepUntil(now, longestLeafOf(signer, old), certificate.notAfter);
  return withRetired(change, { material, fingerprint: old }, until);
}

/** A thief of the CA in `tls.*` has the one that is prepared beside it. */
function isStolen(signer: ClusterSigner, secret: Secret, old: string): boolean {
  const isDistrusted = distrustedCas(signer);
  const active = firstOf(slotMaterial(secret, 'tls'));
  return isDistrusted(old) || (active !== undefined && isDistrusted(fingerprint(active.raw)));
}

function recordsOf({ status }: ClusterSigner): readonly CrossRecord[] {
  return (status?.crossCertificates ?? []).map((each) => ({
    ...each,
    notAfter: parseTime(each.notAfter),
  }));
}

/** @param cross - PEM: the cross-certificate of this subject, then the CA that signed it */
function recordOf(cross: string | undefined, subject: string): readonly CrossRecord[] {
  const [certificate, issuer] = cross === undefined ? [] : readAnchors(cross);
  if (certificate === undefined || issuer === undefined) return [];
  return [{ issuer: fingerprint(issuer.raw), subject, notAfter: certificate.notAfter }];
}

/**
 * The new CA's key, certified by the previous CA, if that is requested and possible. A distrusted CA never
 * certifies it. If it cannot be done, the rotation continues without it: verifiers that read the bundle need
 * no cross-certificate.
 */
async function crossOf(
  { crossSign }: ApplyStepInit,
  { signer, managed, now }: ApplyStepInput,
  old: AuthorityMaterial,
  next: AuthorityMaterial,
): Promise<string | undefined> {
  if (!managed.crossSigned || crossSign === undefined) return undefined;
  // A cross-certificate that cannot be recorded must not be made.
  if (!hasRoomForCross(signer.status)) return undefined;
  try {
    if (distrustedCas(signer)(newAuthority(old).fingerprint)) return undefined;
    return await crossSign({ old, next, now });
  } catch (error) {
    if (error instanceof SignerError) return undefined;
    throw error;
  }
}

function longestLeafOf({ spec, status }: ClusterSigner, ca: string): string {
  const entry = status?.authorities?.find(({ fingerprint: each }) => each === ca);
  return entry?.longestLeaf ?? spec.profile.maxDuration;
}

function firstOf(material: AuthorityMaterial): Certificate | undefined {
  const read = attempt(() => readCertificates(material.certificate));
  return read instanceof SignerError ? undefined : read[0];
}

function newAuthority(
  material: NewAuthority['material'],
): Pick<NewAuthority, 'material' | 'fingerprint'> {
  const der = decodePem(material.certificate, 'CERTIFICATE');
  return { material, fingerprint: fingerprint(decodeCertificate(der).raw) };
}

/**
 * A CA's name ends in the second of its creation. Two CAs of one second would share the name, and verifiers
 * look up an issuer by its name.
 */
function unusedBirthSecond({ signer, now }: ApplyStepInput): number {
  const born = (signer.status?.authorities ?? []).map(
    ({ notBefore }) => parseTime(notBefore) / 1000 + CA_BACKDATE_SECONDS,
  );
  let second = Math.floor(now / 1000);
  while (born.includes(second)) second += 1;
  return second * 1000;
}

async function create(
  { client }: ApplyStepInit,
  { signer }: ApplyStepInput,
  change: SecretChange,
): Promise<Secret | undefined> {
  const { namespace, name } = secretOf(signer.spec);
  const present = (map: Readonly<Record<string, string | null>>): [string, string][] =>
    Object.entries(map).filter((each): each is [string, string] => each[1] !== null);
  const body = {
    apiVersion: 'v1',
    kind: 'Secret',
    type: 'kubernetes.io/tls',
    metadata: {
      namespace,
      name,
      labels: change.labels,
      annotations: {
        ...Object.fromEntries(present(change.annotations)),
        ...ownAnnotations(signer),
      },
    },
    // No ownerReference: deleting a ClusterSigner must not delete its key.
    data: Object.fromEntries(
      present(change.data).map(([key, text]) => [key, Buffer.from(text).toString('base64')]),
    ),
  };
  try {
    return await client.request<Secret>({
      method: 'POST',
      path: SECRETS.collection(namespace),
      body,
    });
  } catch (error) {
    // Another replica created it, or an earlier call whose response was lost: the watch will show it.
    if (error instanceof KubeError && error.code === 'KUBE_ALREADY_EXISTS') return undefined;
    throw error;
  }
}
