// SPDX-License-Identifier: Apache-2.0
/**
 * Rules by which the API server rejects certificates.k8s.io objects, applied before submission.
 * Each is named after its function in pkg/apis/certificates/validation/validation.go (Kubernetes
 * 1.37).
 */
import { membersOf } from '#base/record.ts';
import type { KubeObject } from '#api/object/object.ts';
import { checkSignerName, isKubernetesSignerName } from '#api/signer/signer-name.ts';
import { SignerError, attempt } from '#base/errors.ts';
import { decodeCertificate, fingerprint } from '#pki/x509/certificate.ts';
import { decodeRequest, verifyRequest } from '#pki/x509/pkcs10.ts';
import { quote } from '#base/quote.ts';
import { KEY_USAGES, type KeyUsage } from '#base/vocabulary.ts';
import { refusalsOfPem } from '../request-refusals.ts';
import type { LintFinding } from './finding.ts';
import { refusalFinding, unnamedServer } from './lint-request.ts';

/** A problem of one field. */
type Problem = readonly [rule: string, field: string, message: string];

const KUBERNETES_NAME = /^(?:[a-z0-9-]+\.)*kubernetes\.io\//;

/** certificates.MaxTrustBundleSize. */
const MAX_BUNDLE_BYTES = 1024 * 1024;
/**
 * MinMaxExpirationSeconds, MaxMaxExpirationSeconds and KubernetesMaxMaxExpirationSeconds of the API
 * group.
 */
const POD_SECONDS = { least: 3_600, most: 91 * 86_400, mostOfKubernetes: 86_400 };
/** `spec.expirationSeconds`: ten minutes. */
const MIN_EXPIRATION_SECONDS = 600;
/** certificates.MaxStubPKCS10RequestSize. */
const MAX_STUB_BYTES = 10 * 1024;

const PEM_BLOCK = /-----BEGIN ([A-Z0-9 ]+)-----\r?\n([^-]*)-----END \1-----/g;

/** Linters by kind of certificates.k8s.io. */
export const API_LINTS: ReadonlyMap<
  string,
  (object: KubeObject, where: string) => readonly LintFinding[]
> = new Map([
  [
    'CertificateSigningRequest',
    (object, where) => [
      ...linter('ValidateCertificateSigningRequestCreate', lintCsr)(object, where),
      ...refusalsOfSigners(membersOf(object.spec), `${where} spec.request`),
    ],
  ],
  ['PodCertificateRequest', linter('ValidatePodCertificateRequestCreate', lintPodRequest)],
  ['ClusterTrustBundle', linter('ValidateClusterTrustBundle', lintBundle)],
]);

function linter(
  source: string,
  lint: (spec: Readonly<Record<string, unknown>>, name: string) => readonly Problem[],
): (object: KubeObject, where: string) => readonly LintFinding[] {
  return (object, where) => {
    const problems = lint(membersOf(object.spec), object.metadata.name);
    return problems.map(([rule, field, message]) => ({
      severity: 'error',
      rule,
      source,
      message,
      where: `${where} ${field}`,
    }));
  };
}

function lintCsr(spec: Readonly<Record<string, unknown>>): readonly Problem[] {
  const { request, usages, expirationSeconds } = spec;
  return [
    ...requestProblems(bytesOf(request)),
    ...usageProblems(Array.isArray(usages) ? usages : []),
    ...signerNameProblems(spec['signerName']),
    ...(typeof expirationSeconds === 'number' && expirationSeconds < MIN_EXPIRATION_SECONDS
      ? [problem('expiration', 'spec.expirationSeconds', `${expirationSeconds} is less than 600`)]
      : []),
  ];
}

function requestProblems(pem: Uint8Array): readonly Problem[] {
  const field = 'spec.request';
  const [block] = blocksOf(Buffer.from(pem).toString('latin1'));
  if (block?.label !== 'CERTIFICATE REQUEST') {
    return [problem('request-pem', field, 'it is not base64 of a PEM block CERTIFICATE REQUEST')];
  }
  return [];
}

/**
 * Judges a request as the components would. Requests for signers of Kubernetes have names that
 * Countersign never issues, such as those of nodes.
 */
function refusalsOfSigners(
  { request, usages, signerName }: Readonly<Record<string, unknown>>,
  where: string,
): readonly LintFinding[] {
  const pem = Buffer.from(bytesOf(request)).toString('latin1');
  const [block] = blocksOf(pem);
  // requestProblems reports another content.
  if (block?.label !== 'CERTIFICATE REQUEST') return [];
  const known = (Array.isArray(usages) ? usages : []).filter((each) => isUsage(each));
  // usageProblems reports missing and unknown usages.
  const refusals = refusalsOfPem(pem, known.length === 0 ? undefined : known);
  const refused = refusals
    .filter(({ reason }) => !isKubernetesSignerName(String(signerName)) || UNREADABLE.has(reason))
    .map((each) => refusalFinding(each, where));
  return [...refused, ...unnamedServer(block.der, where, known)];
}

/** Reasons for which no reader accepts a request, with any signer. */
const UNREADABLE: ReadonlySet<string> = new Set(['MalformedRequest', 'InvalidSignature']);

function isUsage(value: unknown): value is KeyUsage {
  return KEY_USAGES.some((known) => known === value);
}

function pkcs10Problems(der: Uint8Array, field: string): readonly Problem[] {
  const request = attempt(() => decodeRequest(der));
  if (request instanceof SignerError) return [problem('request-readable', field, request.message)];
  const verified = attempt(() => {
    verifyRequest(request);
  });
  return verified instanceof SignerError
    ? [problem('request-signature', field, verified.message)]
    : [];
}

function usageProblems(usages: readonly unknown[]): readonly Problem[] {
  const field = 'spec.usages';
  if (usages.length === 0) return [problem('usages-present', field, 'name at least one usage')];
  const unknown = usages.filter((each) => !isUsage(each));
  const twice = usages.filter((each, index) => usages.indexOf(each) !== index);
  return [
    ...unknown.map((each) => problem('usage-known', field, `there is no usage ${said(each)}`)),
    ...twice.map((each) => problem('usage-once', field, `${said(each)} is there twice`)),
  ];
}

function signerNameProblems(value: unknown): readonly Problem[] {
  const name = typeof value === 'string' ? value : '';
  const field = 'spec.signerName';
  if (name === 'kubernetes.io/legacy-unknown') {
    return [problem('signer-name', field, 'the legacy signer name is of v1beta1 alone')];
  }
  // Names of Kubernetes are valid in requests, though not for signers of Countersign.
  const checked = attempt(() =>
    checkSignerName(name.replace(KUBERNETES_NAME, 'kubernetes.example/')),
  );
  return checked instanceof SignerError ? [problem('signer-name', field, checked.message)] : [];
}

function lintPodRequest(spec: Readonly<Record<string, unknown>>): readonly Problem[] {
  const stub = bytesOf(spec['stubPKCS10Request']);
  const signerName = typeof spec['signerName'] === 'string' ? spec['signerName'] : '';
  const required = [
    'podName',
    'podUID',
    'serviceAccountName',
    'serviceAccountUID',
    'nodeName',
    'nodeUID',
  ];
  const missing = required.filter((each) => typeof spec[each] !== 'string' || spec[each] === '');
  const { least, most, mostOfKubernetes } = POD_SECONDS;
  const limit = isKubernetesSignerName(signerName) ? mostOfKubernetes : most;
  const { maxExpirationSeconds: seconds = mostOfKubernetes } = spec;
  const inRange = typeof seconds === 'number' && seconds >= least && seconds <= limit;
  return [
    ...signerNameProblems(signerName),
    ...missing.map((each) => problem('pod-fields', `spec.${each}`, 'it is missing')),
    ...(inRange
      ? []
      : [
          problem(
            'expiration',
            'spec.maxExpirationSeconds',
            `it is not between ${least} and ${limit}`,
          ),
        ]),
    ...(stub.length > MAX_STUB_BYTES
      ? [problem('request-size', 'spec.stubPKCS10Request', `it has over ${MAX_STUB_BYTES} bytes`)]
      : pkcs10Problems(stub, 'spec.stubPKCS10Request')),
  ];
}

function lintBundle(spec: Readonly<Record<string, unknown>>, name: string): readonly Problem[] {
  const { signerName = '', trustBundle = '' } = spec;
  return [
    ...(signerName === '' ? [] : signerNameProblems(signerName)),
    ...bundleNameProblems(name, String(signerName)),
    ...anchorProblems(String(trustBundle)),
  ];
}

/**
 * ValidateClusterTrustBundleName: the name of a signer's bundle begins with the signer name, with
 * colons for slashes.
 */
function bundleNameProblems(name: string, signerName: string): readonly Problem[] {
  if (signerName === '') {
    if (!name.includes(':')) return [];
    return [problem('bundle-name', 'metadata.name', 'without spec.signerName it has no colon')];
  }
  const prefix = `${signerName.replaceAll('/', ':')}:`;
  if (name.startsWith(prefix) && name.length > prefix.length) return [];
  return [problem('bundle-name', 'metadata.name', `it does not begin with ${quote(prefix)}`)];
}

function anchorProblems(pem: string): readonly Problem[] {
  const field = 'spec.trustBundle';
  if (Buffer.byteLength(pem) > MAX_BUNDLE_BYTES) {
    return [problem('bundle-size', field, `it has over ${MAX_BUNDLE_BYTES} bytes`)];
  }
  const blocks = blocksOf(pem);
  if (blocks.length === 0) return [problem('anchors-present', field, 'it has no certificate')];
  const seen = new Set<string>();
  return blocks.flatMap(({ label, der }, index) => {
    const at = `${field} #${index + 1}`;
    if (label !== 'CERTIFICATE')
      return [problem('anchor-pem', at, `it is a block ${quote(label)}`)];
    const certificate = attempt(() => decodeCertificate(der));
    if (certificate instanceof SignerError) {
      return [problem('anchor-readable', at, certificate.message)];
    }
    if (!certificate.isCa) return [problem('anchor-is-ca', at, 'it is not a CA')];
    const print = fingerprint(der);
    if (seen.has(print)) return [problem('anchor-once', at, `${print} is there twice`)];
    seen.add(print);
    return [];
  });
}

function blocksOf(pem: string): readonly { readonly label: string; readonly der: Uint8Array }[] {
  return [...pem.matchAll(PEM_BLOCK)].map(([, label = '', body = '']) => ({
    label,
    der: Buffer.from(body, 'base64'),
  }));
}

function bytesOf(value: unknown): Uint8Array {
  return Buffer.from(typeof value === 'string' ? value : '', 'base64');
}

function said(value: unknown): string {
  return typeof value === 'string' ? quote(value) : 'that is not a string';
}

function problem(rule: string, field: string, message: string): Problem {
  return [rule, field, message];
}
