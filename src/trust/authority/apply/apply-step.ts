// SPDX-License-Identifier: Apache-2.0
import {
  certifiesCas,
  secretOf,
  type ClusterSigner,
  type ManagedAuthority,
} from '#api/signer/cluster-signer.ts';
import { parseDuration } from '#api/object/duration.ts';
import type { Secret } from '#api/object/object.ts';
import { formatTime, parseTime } from '#api/object/time.ts';
import { NEXT_INSTALLED_AT } from '#api/signer/rotation-annotations.ts';
import type {
  AuthorityMaterial,
  CreateAuthority,
  CreateCaRequest,
  CrossSign,
} from '#ca/custody/contract.ts';
import { SignerError, attempt } from '#base/errors.ts';
import { CA_BACKDATE_SECONDS } from '#ca/issuance/ca-certificate.ts';
import type { Client } from '#kube/client/client.ts';
import { KubeError } from '#kube/client/kube-error.ts';
import { SECRETS } from '#kube/resource/core-v1.ts';
import { fingerprint, readCertificates, type Certificate } from '#pki/x509/certificate.ts';
import type { CrossRecord } from '#ca/rotation/cross-records.ts';
import { distrustedCas } from '#ca/rotation/distrusted-cas.ts';
import type { RotationStep } from '#ca/rotation/next-step.ts';
import { hasRoomForCross } from '#ca/rotation/trust-memory.ts';
import { readAnchors } from '#pki/x509/trust-bundle.ts';
import {
  NO_CHANGE,
  intoNext,
  intoPending,
  intoTls,
  ownAnnotations,
  ownLabels,
  withoutCross,
  withRetired,
  withoutNext,
  withoutPending,
  withoutRetired,
  type NewAuthority,
  type SecretChange,
} from './managed-secret.ts';
import { JSON_PATCH, secretPatch } from './secret-patch.ts';
import { slotMaterial } from '../decide/inspect.ts';
import { keepUntil, keepsRetiredKeys } from '../decide/retired-keys.ts';
import { acceptedChain, attemptsOf, upstreamMaterial } from '../decide/upstream.ts';

export interface ApplyStepInit {
  readonly client: Client;
  readonly create: CreateAuthority;
  readonly createRequest: CreateCaRequest;
  /** If absent, no CA is cross-certified by the previous CA. */
  readonly crossSign?: CrossSign;
  /** Version of Countersign, for the label that names the last writer. */
  readonly version: string;
}

export interface ApplyStepInput {
  readonly signer: ClusterSigner;
  readonly managed: ManagedAuthority;
  /** The Secret as it was when the decision was made, or undefined if it is missing. */
  readonly secret: Secret | undefined;
  readonly step: RotationStep;
  /** PEM: the chain that an upstream CA returned by itself. Absent if the spec has the chain. */
  readonly chain?: string | undefined;
  readonly now: number;
}

/**
 * Applies one phase change with one write. Creates a Secret but never overwrites one. A patch has
 * the resourceVersion that was read as precondition.
 *
 * @returns the Secret as written, or undefined if another client created it first
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
  const { step, secret, managed } = input;
  const durationSeconds = parseDuration(managed.duration);
  const upstream = await upstreamChange(init, input);
  if (upstream !== undefined) return upstream;
  if (step.kind === 'discard') return retiring(input, withoutNext(), 'next');
  if (step.kind === 'withdraw') return withoutCross();
  if (step.kind === 'drop') return withoutRetired([...step.atOnce, ...step.byTime]);
  if (step.kind === 'activate' && secret !== undefined) return activation(init, input, secret);
  const material = await init.create({
    keyType: managed.keyType,
    commonName: managed.commonName,
    durationSeconds,
    crossSigned: certifiesCas(input.signer.spec),
    now: unusedBirthSecond(input),
  });
  const made = { ...newAuthority(material), durationSeconds };
  if (step.kind === 'make' && step.slot === 'next') return newNext(input, made);
  return newTls(input, made, step.kind === 'make' && step.atOnce);
}

/** Makes the prepared CA sign. */
async function activation(
  init: ApplyStepInit,
  input: ApplyStepInput,
  secret: Secret,
): Promise<Omit<SecretChange, 'labels'>> {
  const { signer, managed, now } = input;
  const durationSeconds = parseDuration(managed.duration);
  const material = slotMaterial(secret, 'next');
  const cross = await crossOf(init, input, slotMaterial(secret, 'tls'), material);
  const installedAt = secret.metadata.annotations?.[NEXT_INSTALLED_AT];
  const made = { ...newAuthority(material), durationSeconds, installedAt };
  const records = [...recordsOf(signer), ...recordOf(cross, made.fingerprint)];
  return retiring(input, intoTls(made, { now, atOnce: false, cross, records }), 'tls');
}

/** Prepares a new CA. A key that waits for a certificate is useless from then on. */
function newNext(input: ApplyStepInput, made: NewAuthority): Omit<SecretChange, 'labels'> {
  return withoutPending(retiring(input, intoNext(made), 'next'));
}

/** Puts a new CA in the place of one that cannot sign. */
function newTls(
  input: ApplyStepInput,
  made: NewAuthority,
  atOnce: boolean,
): Omit<SecretChange, 'labels'> {
  const { signer, now } = input;
  const change = intoTls(made, { now, atOnce, cross: undefined, records: recordsOf(signer) });
  return withoutPending(retiring(input, change, 'tls'));
}

/** Returns the change of a step that only a CA with an upstream CA has. */
async function upstreamChange(
  init: ApplyStepInit,
  input: ApplyStepInput,
): Promise<Omit<SecretChange, 'labels'> | undefined> {
  const { step } = input;
  if (step.kind === 'request') return requestChange(init, input, step.clears);
  if (step.kind === 'forget') return withoutPending(NO_CHANGE);
  return step.kind === 'install' ? installChange(input, step) : undefined;
}

/** Creates a key and its request for the upstream CA. */
async function requestChange(
  { createRequest }: ApplyStepInit,
  input: ApplyStepInput,
  clears: boolean,
): Promise<Omit<SecretChange, 'labels'>> {
  const { secret, managed, now } = input;
  const { keyType, commonName, crossSigned } = managed;
  const born = unusedBirthSecond(input);
  const cluster = managed.upstream?.csr?.cluster;
  const requested = await createRequest({
    keyType,
    commonName,
    crossSigned,
    cluster,
    now: born,
  });
  const attempts = secret === undefined ? 1 : attemptsOf(secret) + 1;
  if (secret === undefined) return intoPending(requested, { now, attempts, tls: 'create' });
  if (!clears) return intoPending(requested, { now, attempts, tls: 'keep' });
  return retiring(input, intoPending(requested, { now, attempts, tls: 'clear' }), 'tls');
}

/** Uses the key that waits, with the chain of the upstream CA, which is checked again. */
function installChange(
  input: ApplyStepInput,
  { slot, atOnce }: Extract<RotationStep, { readonly kind: 'install' }>,
): Omit<SecretChange, 'labels'> {
  const { secret, managed, now } = input;
  const accepted = secret && acceptedChain(input, secret);
  // The spec and the Secret are those of the decision, so only the clock can have changed.
  if (secret === undefined || accepted === undefined) return NO_CHANGE;
  const material = upstreamMaterial(secret, accepted);
  const durationSeconds = parseDuration(managed.duration);
  const installedAt = formatTime(now);
  const made = { ...newAuthority(material), durationSeconds, installedAt };
  return slot === 'next' ? newNext(input, made) : newTls(input, made, atOnce);
}

/**
 * Keeps the key of the CA that `change` removes, if CRLs are signed and the CA is not distrusted. A
 * CA that was only prepared has signed nothing, but the status lists it as Retiring all the same.
 */
function retiring(
  { signer, secret, now }: ApplyStepInput,
  change: Omit<SecretChange, 'labels'>,
  slot: 'tls' | 'next',
): Omit<SecretChange, 'labels'> {
  if (secret === undefined || !keepsRetiredKeys(signer)) return change;
  const material = slotMaterial(secret, slot);
  const certificate = firstOf(material);
  // An unreadable CA, or one without a key, signs nothing.
  if (certificate === undefined || material.key === '') return change;
  const old = fingerprint(certificate.raw);
  if (now >= certificate.notAfter || isStolen(signer, secret, old)) return change;
  const until = keepUntil(now, longestLeafOf(signer, old), certificate.notAfter);
  return withRetired(change, { material, fingerprint: old }, until);
}

/**
 * Reports whether a thief may have the key. A thief of the CA in `tls.*` also has the one prepared
 * beside it.
 */
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
 * Returns the new CA's key certified by the previous CA, if that is requested and possible. A
 * distrusted CA never certifies. On failure the rotation continues without it, since verifiers that
 * read the bundle need no cross-certificate.
 */
async function crossOf(
  { crossSign }: ApplyStepInit,
  { signer, managed, now }: ApplyStepInput,
  old: AuthorityMaterial,
  next: AuthorityMaterial,
): Promise<string | undefined> {
  if (!managed.crossSigned || crossSign === undefined) return undefined;
  // The status must record every cross-certificate, so make none without room for it.
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
  const [first] = readCertificates(material.certificate);
  return { material, fingerprint: first === undefined ? '' : fingerprint(first.raw) };
}

/**
 * Returns a creation time that no other CA has. A CA's name ends in the second of its creation, and
 * verifiers look up an issuer by its name.
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
    // Another replica created it, or an earlier call whose response was lost. The watch will show
    // it.
    if (error instanceof KubeError && error.code === 'KUBE_ALREADY_EXISTS') return undefined;
    throw error;
  }
}
