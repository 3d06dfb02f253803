// SPDX-License-Identifier: Apache-2.0
/**
 * Evaluates a recorded request by another version of the rules. It reports fields that the record
 * lacks, and never guesses them.
 */
import type { CertificateRequest } from '#api/request/certificate-request.ts';
import type { CertificateSigningRequest } from '#api/request/csr.ts';
import type { PodCertificateRequest } from '#api/request/pod-certificate-request.ts';
import type { SignerObject } from '#api/signer/cluster-signer.ts';
import { decide as decideCsr } from '#requests/approver/decide.ts';
import { decide as decideRequest, RULES_ONLY } from '#requests/certificate-request/decide.ts';
import { evaluatePod } from '#requests/pcr-issuer/decide.ts';
import { attempt, SignerError } from '#base/errors.ts';
import { NO_DEADLINE, type Deadline } from '#base/ports.ts';
import type { LeafSubject } from '#base/vocabulary.ts';
import { compileProfile, type Profile } from '#ca/issuance/profile.ts';
import type { LedgerRecord } from '#ledger/index.ts';
import { encodePem } from '#pki/der/pem.ts';
import { decodePublicKey } from '#pki/keys/public-key.ts';
import { decodeRequest } from '#pki/x509/pkcs10.ts';
import {
  compileIssuerPolicy,
  compilePolicy,
  type RequestPolicy,
} from '#ca/policy/compile-policy.ts';
import { podRequestOf } from '#requests/recording/recorded-pod.ts';
import { certificateRequestVerdict, type PolicyTestVerdict } from './test-certificate-request.ts';
import { podVerdict } from './test-pod.ts';
import { WORDS } from './test.ts';

/** A record with a requester. */
export type AskedRecord = Extract<LedgerRecord, { readonly request: object }>;

/**
 * Verdict of the rules on a record, with the names of a pod's leaf. `unknown`: the record lacks
 * fields.
 */
export type ReplayedVerdict =
  | (PolicyTestVerdict & { readonly names?: readonly string[] })
  | { readonly word: 'UNKNOWN'; readonly message: string };

/** Judges records by the rules of `signer`. */
export type ReplayJudge = (record: JudgedRecord) => ReplayedVerdict;

/** The parts of a record that decide, which an object of the cluster has as well. */
export type JudgedRecord = Pick<AskedRecord, 'signer' | 'request' | 'requester' | 'at'>;

/**
 * Compiles the rules once.
 *
 * @param deadline - ends an expression that takes too long
 * @throws SignerError CEL_INVALID, CEL_COST
 */
export function replayJudge(
  signer: SignerObject,
  reservedPrefixes: readonly string[],
  deadline: Deadline = NO_DEADLINE,
): ReplayJudge {
  const profile = compileProfile(signer.spec, deadline);
  const context = { signer, profile, reservedPrefixes };
  const [csr, namespaced] = [
    compilePolicy(signer.spec, deadline),
    compileIssuerPolicy(signer.spec, deadline),
  ];
  const sections = {
    CertificateSigningRequest: fieldsReadIn(signer.spec.requests),
    CertificateRequest: fieldsReadIn(signer.spec.certificateRequests),
  };
  return (record) => {
    const { kind } = record.request;
    if (kind === 'PodCertificateRequest') return judgePod(record, context);
    if (kind !== 'CertificateSigningRequest' && kind !== 'CertificateRequest')
      return unknown(`there are no rules for a ${kind}`);
    const lacks = lacking(record, sections[kind]);
    if (lacks !== undefined) return unknown(lacks);
    return kind === 'CertificateRequest'
      ? judgeCertificateRequest(record, { ...context, policy: namespaced })
      : judgeCsr(record, { ...context, policy: csr });
  };
}

interface Context {
  readonly signer: SignerObject;
  readonly profile: Profile;
  readonly reservedPrefixes: readonly string[];
}

/** Members of `request` that some expression of a section mentions and that records may lack. */
type ReadField = 'extra' | 'uid' | 'groups' | 'expirationSeconds';
const FIELDS: readonly ReadField[] = ['extra', 'uid', 'groups', 'expirationSeconds'];

function fieldsReadIn(section: object | undefined): ReadonlySet<ReadField> {
  const text = JSON.stringify(section ?? {});
  return new Set(
    FIELDS.filter((field) => new RegExp(`\\brequest\\s*\\.\\s*${field}\\b`).test(text)),
  );
}

/** Returns what the rules need and the record lacks. */
function lacking(record: JudgedRecord, reads: ReadonlySet<ReadField>): string | undefined {
  const { request, requester } = record;
  if (request.pkcs10 === undefined)
    return 'the record has no PKCS#10 request: it was left out, or could not be read';
  if (requester.user === undefined)
    return 'the record does not name the requester: the field was left out';
  const field = [...reads].find((each) => LACKS[each](record));
  if (field === undefined) return undefined;
  return `the rules read request.${field}, ${field === 'extra' || field === 'expirationSeconds' ? 'which records of such requests do not keep' : 'and the record has none: whether the request had one is unknown'}`;
}

const LACKS: Readonly<Record<ReadField, (record: JudgedRecord) => boolean>> = {
  extra: () => true,
  uid: ({ requester }) => requester.user?.uid === undefined,
  groups: ({ requester }) => requester.user?.groups === undefined,
  expirationSeconds: ({ request }) => request.kind === 'CertificateRequest',
};

const UNSET = { resourceVersion: '', creationTimestamp: '' };

function judgeCsr(
  record: JudgedRecord,
  { signer, policy, reservedPrefixes }: Context & { readonly policy: RequestPolicy },
): ReplayedVerdict {
  const { usages, expirationSeconds, name, uid } = record.request;
  const csr: CertificateSigningRequest = {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: { ...UNSET, name, uid },
    spec: {
      request: pemOf(record),
      signerName: signer.spec.signerName,
      ...requesterOf(record),
      ...(usages === undefined ? {} : { usages }),
      ...(expirationSeconds === undefined ? {} : { expirationSeconds }),
    },
  };
  const plan = decideCsr({ csr, policy, reservedPrefixes });
  if (plan.kind === 'ignore')
    return { word: 'NO OPINION', message: 'spec.requests has neither rules nor deny' };
  return { word: WORDS[plan.kind], message: plan.message };
}

function judgeCertificateRequest(
  record: JudgedRecord,
  { signer, profile, policy, reservedPrefixes }: Context & { readonly policy: RequestPolicy },
): ReplayedVerdict {
  if (signer.spec.certificateRequests === undefined)
    return { word: 'NO OPINION', message: 'there is no spec.certificateRequests' };
  const { usages, name, namespace = '', uid } = record.request;
  const { apiVersion, kind, metadata } = signer;
  const request: CertificateRequest = {
    apiVersion: 'cert-manager.io/v1',
    kind: 'CertificateRequest',
    metadata: { ...UNSET, name, namespace, uid },
    spec: {
      request: pemOf(record),
      ...requesterOf(record),
      issuerRef: { group: apiVersion.split('/')[0] ?? '', kind, name: metadata.name },
      ...(usages === undefined ? {} : { usages }),
    },
    status: { conditions: [{ type: 'Approved', status: 'True' }] },
  };
  const authority = RULES_ONLY;
  const plan = decideRequest({ request, profile, policy, authority, reservedPrefixes, now: 0 });
  return certificateRequestVerdict(plan);
}

function judgePod(record: JudgedRecord, context: Context): ReplayedVerdict {
  const { profile, reservedPrefixes } = context;
  const { pods } = profile;
  if (pods === undefined) return { word: 'NO OPINION', message: 'there is no spec.pods' };
  if (pods.readsPod)
    return unknown('spec.pods reads the pod or its Services, which a replay does not have');
  const request = podRequestIn(record, context);
  if (typeof request === 'string') return unknown(request);
  const keyType = keyTypeOf(record);
  if (keyType === undefined)
    return unknown('the record has no public key: it was left out, or could not be read');
  if (!profile.keyTypes.some((each) => each === keyType))
    return { word: 'DENY', message: `the key type ${keyType} is not in profile.keyTypes` };
  const found = attempt(() =>
    pods.together(() => evaluatePod({ request, profile, reservedPrefixes }, pods)),
  );
  return podVerdict(found, approvedPod);
}

/**
 * Returns the request as the pod's kubelet wrote it, without a key, or the reason why the record is
 * insufficient.
 */
function podRequestIn(record: JudgedRecord, { signer }: Context): PodCertificateRequest | string {
  const { serviceAccount, node } = record.requester;
  const request = podRequestOf(record);
  if (request === undefined || serviceAccount === undefined || node === undefined)
    return 'the record does not name the pod, its ServiceAccount and its node: a field was left out';
  const { unverifiedUserAnnotations: annotations } = request.spec;
  if (annotations === undefined && /\bannotations\b/.test(JSON.stringify(signer.spec.pods)))
    return 'spec.pods reads annotations, and the record has none: they were left out, or an older version wrote it';
  return request;
}

function approvedPod({ commonName, dnsNames, uris, ipAddresses }: LeafSubject): ReplayedVerdict {
  const names = [commonName, ...uris, ...dnsNames, ...ipAddresses].filter((name) => name !== '');
  return { word: 'APPROVE', message: 'spec.pods allows it', names: [...new Set(names)].sort() };
}

function keyTypeOf({ request: { pkcs10, publicKey } }: JudgedRecord): string | undefined {
  const read = attempt(() => {
    if (publicKey !== undefined) return decodePublicKey(Buffer.from(publicKey, 'base64'));
    return pkcs10 === undefined
      ? undefined
      : decodeRequest(Buffer.from(pkcs10, 'base64')).publicKey;
  });
  return read instanceof SignerError ? undefined : read?.keyType;
}

/** Returns the value of `spec.request`: base64 of PEM. */
function pemOf({ request: { pkcs10 = '' } }: JudgedRecord): string {
  const pem = encodePem('CERTIFICATE REQUEST', Buffer.from(pkcs10, 'base64'));
  return Buffer.from(pem).toString('base64');
}

function requesterOf({ requester: { user } }: JudgedRecord): {
  readonly username: string;
  readonly uid?: string;
  readonly groups?: readonly string[];
} {
  const { username = '', uid, groups } = user ?? {};
  return {
    username,
    ...(uid === undefined ? {} : { uid }),
    ...(groups === undefined ? {} : { groups }),
  };
}

function unknown(message: string): ReplayedVerdict {
  return { word: 'UNKNOWN', message };
}
