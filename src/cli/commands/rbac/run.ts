// SPDX-License-Identifier: Apache-2.0
import { printText } from '../../terminal.ts';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { SecretReference } from '../../../api/signer/cluster-signer.ts';
import { SignerError } from '../../../errors.ts';
import { OPT_IN, renderAdmission, renderRbac, type Files } from '../../../manifests/render.ts';

/** Flags of `countersign rbac`. */
export interface RbacOptions {
  readonly signer: readonly string[];
  readonly bundle: readonly string[];
  readonly secret: readonly string[];
  readonly namespacedSigners: boolean;
  readonly signerSecret: readonly string[];
  readonly namespace: string;
  readonly servingSigner: string;
  readonly output?: string;
  readonly whoMayRequest: boolean;
}

/**
 * Prints roles, bindings and admission policies, or writes them to `<output>/<component>.yaml` and
 * `<output>/admission/<policy>.yaml`. What is printed can be applied as it is, so the policy that takes
 * permissions away is printed with `--who-may-request` only.
 *
 * @throws SignerError USAGE or SIGNER_NAME_INVALID (`fail`) for an invalid name
 */
export async function writeRbac(options: RbacOptions): Promise<void> {
  const { signer: signers, bundle: bundles, namespace, servingSigner, output } = options;
  const { namespacedSigners } = options;
  const secrets = options.secret.map((text) => secretOf('--secret', text));
  const signerSecrets = options.signerSecret.map((text) => secretOf('--signer-secret', text));
  const names = { signers, bundles, secrets, namespace, servingSigner };
  const installation = { ...names, namespacedSigners, signerSecrets };
  const roles = renderRbac(installation);
  const policies = renderAdmission(installation);
  if (output === undefined) {
    const wanted = [...policies].filter(([file]) => options.whoMayRequest || file !== OPT_IN);
    const texts = [...roles.values(), ...wanted.map(([, text]) => text)];
    printText(texts.join('---\n'));
    return;
  }
  await writeAll(output, roles);
  await writeAll(join(output, 'admission'), policies);
}

function secretOf(flag: string, text: string): SecretReference {
  const [namespace = '', name = '', ...rest] = text.split('/');
  if (rest.length > 0 || namespace === '' || name === '') {
    throw new SignerError({
      code: 'USAGE',
      disposition: 'fail',
      message: `${flag} "${text.slice(0, 80)}" must be <namespace>/<name>`,
    });
  }
  return { namespace, name };
}

async function writeAll(directory: string, files: Files): Promise<void> {
  for (const [name, text] of files) {
    const path = join(directory, name);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text);
  }
}
