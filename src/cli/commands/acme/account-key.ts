// SPDX-License-Identifier: Apache-2.0
import type { AcmeSigner } from '#api/acme/acme-signer.ts';
import { ACME_CLUSTER_SIGNERS, ACME_SIGNERS } from '#api/acme/names.ts';
import { readAcmeSigner } from '#api/acme/read-acme-signer.ts';
import type { KubeObject, Secret } from '#api/object/object.ts';
import { SIGNER_NAME } from '#api/signer/grant.ts';
import { usageError } from '#base/errors.ts';
import type { Client } from '#kube/client/client.ts';
import { KubeError } from '#kube/client/kube-error.ts';
import { SECRETS } from '#kube/resource/core-v1.ts';
import { resource } from '#kube/resource/resource.ts';
import { generatePrivateKey } from '#pki/keys/private-key.ts';
import type { Output } from '#operations/report.ts';
import { structuredText } from '#operations/structured-text.ts';
import { printDocument, printText } from '#cli/terminal.ts';
import { connectUser } from '#cli/user-client.ts';
import type { UserOptions } from '#cli/user-options.ts';

/** Flags of `countersign account-key`. */
export interface AccountKeyOptions extends UserOptions {
  /** Namespace of an AcmeSigner. Absent for an AcmeClusterSigner. */
  readonly namespace?: string;
  readonly secretNamespace: string;
  readonly output: Output | 'name';
}

/**
 * Creates the Secret with the account key of a signer. It never overwrites an existing Secret,
 * whose key may have an account.
 *
 * @throws SignerError USAGE if it exists, KubeError, or SPEC_INVALID
 */
export async function runAccountKey(name: string, options: AccountKeyOptions): Promise<void> {
  const { client } = await connectUser(options, 'account-key');
  try {
    const { output } = options;
    const made = await makeAccountKey(client, name, options);
    if (output === 'json' || output === 'yaml') printDocument(structuredText(made, output));
    else if (output === 'name') printText(`secret/${made.secret.name}\n`);
    else printText(textOf(made));
  } finally {
    await client.close();
  }
}

/** The new Secret, as `-o json` and `-o yaml` print it, without the key. */
export interface MadeAccountKey {
  readonly signerName: string;
  readonly secret: { readonly namespace: string; readonly name: string };
}

function textOf({ signerName, secret: { namespace, name } }: MadeAccountKey): string {
  return `Secret ${namespace}/${name} was made with a new account key for ${signerName}.\nKeep a copy in a safe place: its holder can revoke every certificate of the account.\n`;
}

/** @returns the new Secret */
export async function makeAccountKey(
  client: Pick<Client, 'request'>,
  name: string,
  options: Pick<AccountKeyOptions, 'namespace' | 'secretNamespace'>,
): Promise<MadeAccountKey> {
  const { namespace } = options;
  const kind = resource(namespace === undefined ? ACME_CLUSTER_SIGNERS : ACME_SIGNERS);
  const path = kind.object({ namespace, name });
  const signer = readAcmeSigner(await client.request<KubeObject>({ method: 'GET', path }));
  const { pem } = await generatePrivateKey('ECDSAP256');
  const secret = accountSecret(signer, namespace ?? options.secretNamespace, pem);
  const where = `${secret.metadata.namespace}/${secret.metadata.name}`;
  try {
    const collection = SECRETS.collection(secret.metadata.namespace);
    await client.request({ method: 'POST', path: collection, body: secret });
  } catch (error) {
    if (!(error instanceof KubeError) || error.code !== 'KUBE_ALREADY_EXISTS') throw error;
    throw usageError(
      `Secret ${where} is there already, and its key may have an account; it stays as it is. Name another Secret in spec.acme.accountKey.secret, or annotate this one with ${SIGNER_NAME}=${signer.spec.signerName}`,
      error,
    );
  }
  const { namespace: place, name: secretName } = secret.metadata;
  return { signerName: signer.spec.signerName, secret: { namespace: place, name: secretName } };
}

type NewSecret = Omit<Secret, 'metadata'> & {
  readonly metadata: {
    readonly namespace: string;
    readonly name: string;
    readonly annotations: Readonly<Record<string, string>>;
  };
};

/** Returns the Secret, with the consent that this signer uses its key. */
function accountSecret({ spec }: AcmeSigner, namespace: string, pem: string): NewSecret {
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    type: 'Opaque',
    metadata: {
      namespace,
      name: spec.acme.accountKey.secret.name,
      annotations: { [SIGNER_NAME]: spec.signerName },
    },
    data: { 'tls.key': Buffer.from(pem).toString('base64') },
  };
}
