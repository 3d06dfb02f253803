// SPDX-License-Identifier: Apache-2.0
/** A recorded request before another version of the rules. What the record does not say is said, and never guessed. */
import type { CertificateRequest } from '../../../api/request/certificate-request.ts';
import type { CertificateSigningRequest } from '../../../api/request/csr.ts';
import type { PodCertificateRequest } from '../../../api/request/pod-certificate-request.ts';
import type { SignerObject } from '../../../api/signer/cluster-signer.ts';
import { decide as decideCsr } from '../../../controllers/approver/decide.ts';
import {
  decide as decideRequest,
  RULES_ONLY,
} from '../../../controllers/certificate-request/decide.ts';
import { evaluatePod } from '../../../controllers/pcr-issuer/decide.ts';
import { attempt, SignerError } from '../../../errors.ts';
import { compileProfile, type Profile } from '../../../issuance/profile.ts';
import type { LedgerRecord } from '../../../ledger/index.ts';
import { encodePem } from '../../../pki/der/pem.ts';
import { decodePublicKey } from '../../../pki/keys/public-key.ts';
import { decodeRequest } from '../../../pki/x509/pkcs10.ts';
import {
  compileCertificateRequestPolicy,
  compilePolicy,
  type RequestPolicy,
} from '../../../policy/compile-policy.ts';
import { podRequestOf } from '../../../runtime/recording/recorded-pod.ts';
import { reasonOf } from '../../../runtime/requests/error-outcome.ts';
import type { PolicyTestVerdict } from './test-certificate-request.ts';

/** A record of somebody who asked. */
export type AskedRecord = Extract<LedgerRecord, { readonly request: object }>;

/** What the rules say of a record; for a pod, whom its leaf would name. `unknown`: the record does not say enough. */
export type ReplayedVerdict =
  | (PolicyTestVerdict & { readonly names?: readonly string[] })
  | { readonly word: 'UNKNOWN'; readonly message: string };

/** Judges records by the rules of `signer`. */
export type ReplayJudge = (record: AskedRecord) => ReplayedVerdict;

/** The rules, compiled once. @throws SignerError CEL_INVALID, CEL_COST */
export function replayJudge(
  signer: SignerObject,
  reservedPrefixes: readonly string[],
): ReplayJudge {
  const profile = compileProfile(signer.spec);
  const context = { signer, profile, reservedPrefixes };
  const [csr, namespaced] = [
    compilePolicy(signer.spec),
    compileCertificateRequestPolicy(signer.spec),
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

/** Members of `request` that some expression of a section mentions, as far as records may lack them. */
type ReadField = 'extra' | 'uid' | 'groups' | 'expirationSeconds';
const FIELDS: readonly ReadField[] = ['extra', 'uid', 'groups', 'expirationSeconds'];

function fieldsReadIn(section: object | undefined): ReadonlySet<ReadField> {
  const text = JSON.stringify(section ?? {});
  return new Set(
    FIELDS.filter((field) => new RegExp(`\\brequest\\s*\\.\\s*${field}\\b`).test(text)),
  );
}

/** What the rules need and the record lacks. */
function lacking(record: AskedRecord, reads: ReadonlySet<ReadField>): string | undefined {
  const { request, requester } = record;
  if (request.pkcs10 === undefined)
    return 'the record has no PKCS#10 request: it was left out, or could not be read';
  if (requester.user === undefined)
    return 'the record does not say who asked: the field was left out';
  const field = [...reads].find((each) => LACKS[each](record));
  if (field === undefined) return undefined;
  return `the rules read request.${field}, ${field === 'extra' || field === 'expirationSeconds' ? 'which records of such requests do not keep' : 'and the record has none: nobody can tell whether there was none'}`;
}

const LACKS: Readonly<Record<ReadField, (record: AskedRecord) => boolean>> = {
  extra: () => true,
  uid: ({ requester }) => requester.user?.uid === undefined,
  groups: ({ requester }) => requester.user?.groups === undefined,
  expirationSeconds: ({ request }) => request.kind === 'CertificateRequest',
};

const UNSET = { resourceVersion: '', creationTimestamp: '' };

function judgeCsr(
  record: AskedRecord,
  { signer, policy, reservedPrefixes }: Context & { readonly policy: RequestPolicy },
): ReplayedVerdict {
  const { usages, expirationSeconds, name, uid } = record.request;
  const csr: CertificateSigningRequest = {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: { ...UNSET, name, uid },
    spec: {
      ...{ request: pemOf(record), signerName: signer.spec.signerName, ...requesterOf(record) },
      ...(usages === undefined ? {} : { usages }),
      ...(expirationSeconds === undefined ? {} : { expirationSeconds }),
    },
  };
  const plan = decideCsr({ csr, policy, reservedPrefixes });
  if (plan.kind === 'ignore')
    return { word: 'NO OPINION', message: 'spec.requests has neither rules nor deny' };
  const word = plan.kind === 'approve' ? 'APPROVE' : plan.kind === 'deny' ? 'DENY' : 'NO OPINION';
  return { word, message: plan.message };
}

function judgeCertificateRequest(
  record: AskedRecord,
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
      ...{ request: pemOf(record), ...requesterOf(record) },
      issuerRef: { group: apiVersion.split('/')[0] ?? '', kind, name: metadata.name },
      ...(usages === undefined ? {} : { usages }),
    },
    status: { conditions: [{ type: 'Approved', status: 'True' }] },
  };
  const authority = RULES_ONLY;
  const plan = decideRequest({ request, profile, policy, authority, reservedPrefixes, now: 0 });
  if (plan.kind === 'wait') return { word: 'APPROVE', message: 'a rule allows the whole request' };
  if (plan.kind === 'undecided') return { word: 'NO OPINION', message: plan.message };
  return { word: 'DENY', message: plan.kind === 'fail' ? plan.message : '' };
}

function judgePod(record: AskedRecord, context: Context): ReplayedVerdict {
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
  return podVerdict(found);
}

/** As the pod's kubelet wrote it, without a key; or why the record does not say enough. */
function podRequestIn(record: AskedRecord, { signer }: Context): PodCertificateRequest | string {
  const { serviceAccount, node } = record.requester;
  const request = podRequestOf(record);
  if (request === undefined || serviceAccount === undefined || node === undefined)
    return 'the record does not name the pod, its ServiceAccount and its node: a field was left out';
  const { unverifiedUserAnnotations: annotations } = request.spec;
  if (annotations === undefined && /\bannotations\b/.test(JSON.stringify(signer.spec.pods)))
    return 'spec.pods reads annotations, and the record has none: they were left out, or an older version wrote it';
  return request;
}

function podVerdict(found: ReturnType<typeof evaluatePod> | SignerError): ReplayedVerdict {
  if (found instanceof SignerError)
    return { word: 'NO OPINION', message: `${reasonOf(found)}: ${found.message}` };
  if (!('kind' in found)) {
    const { commonName, dnsNames, uris, ipAddresses } = found.subject;
    const names = [commonName, ...uris, ...dnsNames, ...ipAddresses].filter((name) => name !== '');
    return { word: 'APPROVE', message: 'spec.pods allows it', names: [...new Set(names)].sort() };
  }
  if (found.kind === 'deny') return { word: 'DENY', message: `${found.reason}: ${found.message}` };
  return { word: 'NO OPINION', message: found.kind };
}

function keyTypeOf({ request: { pkcs10, publicKey } }: AskedRecord): string | undefined {
  const read = attempt(() => {
    if (publicKey !== undefined) return decodePublicKey(Buffer.from(publicKey, 'base64'));
    return pkcs10 === undefined
      ? undefined
      : decodeRequest(Buffer.from(pkcs10, 'base64')).publicKey;
  });
  return read instanceof SignerError ? undefined : read?.keyType;
}

/** As `spec.request` has it: base64 of PEM. */
function pemOf({ request: { pkcs10 = '' } }: AskedRecord): string {
  const pem = encodePem('CERTIFICATE REQUEST', Buffer.from(pkcs10, 'base64'));
  return Buffer.from(pem).toString('base64');
}

function requesterOf({ requester: { user } }: AskedRecord): {
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
