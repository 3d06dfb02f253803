// SPDX-License-Identifier: Apache-2.0
/** The CertificateSigningRequest of `countersign request`, judged before it is written. */
import { randomBytes, type KeyObject } from 'node:crypto';
import type { ReviewableRequest } from '#api/request/reviewable-request.ts';
import { isKubernetesSignerName } from '#api/signer/signer-name.ts';
import { servesSigningRequests } from '#api/signer/cluster-signer.ts';
import { SignerError, attempt, usageError } from '#base/errors.ts';
import { compilePolicy } from '#ca/policy/compile-policy.ts';
import { refusalsOfEverySigner, validateRequest } from '#ca/policy/validate.ts';
import { readSignerView } from '#diagnose/explain/read-signer-view.ts';
import type { Client } from '#kube/client/client.ts';
import { KubeError } from '#kube/client/kube-error.ts';
import { encodePem } from '#pki/der/pem.ts';
import { encodeRequest } from '#pki/x509/encode-request.ts';

/** The object without its kind. */
export interface RequestToCreate extends ReviewableRequest {
  readonly spec: ReviewableRequest['spec'] & {
    readonly signerName: string;
    readonly usages: readonly string[];
  };
}

/** The part of the flags that the object has. */
export interface RequestedParts {
  readonly signer: string;
  readonly name: string;
  readonly group: readonly string[];
  readonly dns: readonly string[];
  readonly ip: readonly string[];
  readonly uri: readonly string[];
  readonly email: readonly string[];
  readonly usage: readonly string[];
  readonly expires?: number;
  readonly csrName?: string;
}

export function usagesOf({ usage }: Pick<RequestedParts, 'usage'>): readonly string[] {
  return usage.length > 0 ? usage : ['digital signature', 'client auth'];
}

/**
 * Returns the object.
 *
 * @throws SignerError NAME_INVALID for a name that PKCS#10 cannot hold
 */
export function objectToCreate(options: RequestedParts, key: KeyObject): RequestToCreate {
  const der = encodeRequest({
    subject: { commonName: options.name, organizations: options.group, organizationalUnits: [] },
    sans: {
      dnsNames: options.dns,
      ipAddresses: options.ip,
      uris: options.uri,
      emails: options.email,
    },
    key,
  });
  const pem = encodePem('CERTIFICATE REQUEST', der);
  return {
    metadata: { name: options.csrName ?? objectName(options.name) },
    spec: {
      request: Buffer.from(pem).toString('base64'),
      signerName: options.signer,
      usages: usagesOf(options),
      ...(options.expires === undefined ? {} : { expirationSeconds: options.expires }),
    },
  };
}

/** Characters of the name in the object's name, which has a random part as well. */
const MAX_STEM = 40;

/** Returns a name that is a DNS subdomain (RFC 1123), as the API server requires, for any text. */
function objectName(name: string): string {
  const stem = name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, MAX_STEM)
    .replaceAll(/^-|-$/g, '');
  return ['r', stem, randomBytes(4).toString('hex')].filter((part) => part !== '').join('-');
}

/**
 * Checks a request as every signer of Countersign does.
 *
 * @throws SignerError USAGE with everything that they refuse
 */
export function requireAcceptable(object: RequestToCreate): void {
  // Signers of Kubernetes issue for names of nodes.
  if (isKubernetesSignerName(object.spec.signerName)) return;
  const refusals = refusalsOfEverySigner(object).map(({ message }) => message);
  if (refusals.length > 0) throw notRequested(refusals.join('; '));
}

/**
 * Checks a request as its signer does, if the user may read it.
 *
 * @throws SignerError USAGE with everything that the signer would refuse for good
 */
export async function requireAcceptedBySigner(
  client: Client,
  object: RequestToCreate,
): Promise<void> {
  const view = await readSignerView(client, object.spec.signerName).catch((error: unknown) => {
    // Requesters need no permission to read signers.
    if (error instanceof KubeError) return undefined;
    throw error;
  });
  const spec = view?.signer?.spec;
  if (spec === undefined || spec.intermediates !== undefined) return;
  if (!servesSigningRequests(spec)) {
    throw notRequested(
      `the signer of ${object.spec.signerName} has no spec.requests: it serves no CertificateSigningRequest`,
    );
  }
  const policy = attempt(() => compilePolicy(spec));
  // The signer is not Ready then, and the request waits for its fix.
  if (policy instanceof SignerError) return;
  const { profile, rules } = policy;
  const judged = validateRequest({ csr: object, profile, rules, reservedPrefixes: [] });
  if (judged.kind === 'fail') throw notRequested(judged.message);
}

function notRequested(fault: string): Error {
  return usageError(`nothing is requested, because it would fail: ${fault}`);
}
