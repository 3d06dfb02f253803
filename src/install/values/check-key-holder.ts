// SPDX-License-Identifier: Apache-2.0
/** Checks of key holders beyond patterns. The chart's template has the same, with these words. */
import type { ServedKind } from '#api/signer/cluster-signer.ts';
import { usageError } from '#base/errors.ts';
import { COMPONENTS } from '../component-list.ts';
import { isObjectName } from './check-names.ts';
import type { KeyHolderValues } from './key-holder.ts';
import type { InstallationValues } from './schema.ts';

/** A signer of the values, as far as these checks read it. */
interface HeldSigner {
  readonly name: string;
  readonly secret: string;
  readonly isHeld: boolean;
  readonly serves: readonly ServedKind[];
}

/** Names of Secrets that are Countersign's own. Some components may read theirs. */
const OWN_SECRETS = 'countersign-';

/**
 * Rejects key holders that would keep a key from its signer, or a signer from its key.
 *
 * @throws SignerError USAGE (`fail`), with the value and the fix
 */
export function checkKeyHolders(
  { components }: InstallationValues,
  signers: readonly HeldSigner[],
): void {
  const named = signers.map(({ name }) => name);
  for (const [component, { signsByKeyHolder }] of COMPONENTS) {
    const holder = components[component]?.keyHolder;
    if (signsByKeyHolder !== true || holder === undefined) continue;
    checkHolder(`components.${component}.keyHolder`, holder, named);
  }
  for (const [index, signer] of signers.entries()) {
    if (signer.isHeld) checkHeld(`signers[${index}]`, signer, components);
  }
}

function checkHolder(
  at: string,
  { keys, pkcs11 }: KeyHolderValues,
  signers: readonly string[],
): void {
  if (pkcs11?.files !== undefined) checkSecret(`${at}.pkcs11.files`, pkcs11.files);
  for (const [index, key] of keys.entries()) {
    const ofKey = `${at}.keys[${index}]`;
    if (keys.slice(0, index).some((each) => each.name === key.name)) {
      throw usageError(`${ofKey}.name: "${key.name}" is named twice; write another name`);
    }
    checkSecret(`${ofKey}.secret`, key.secret);
    if (key.pkcs11 !== undefined) checkTokenKey({ at, ofKey }, key, pkcs11 !== undefined);
    for (const [which, signerName] of key.signerNames.entries()) {
      if (signers.includes(signerName)) continue;
      throw usageError(
        `${ofKey}.signerNames[${which}]: "${signerName}" is not in signers; add it there, or leave it out`,
      );
    }
  }
}

function checkTokenKey(
  { at, ofKey }: { readonly at: string; readonly ofKey: string },
  { encrypted = false }: KeyHolderValues['keys'][number],
  hasModule: boolean,
): void {
  if (!hasModule) {
    throw usageError(
      `${ofKey}.pkcs11: the key needs ${at}.pkcs11, which is absent; add it, with the module and its image`,
    );
  }
  if (encrypted) {
    throw usageError(
      `${ofKey}.encrypted: a key in a token has no passphrase; remove encrypted, or pkcs11`,
    );
  }
}

function checkSecret(at: string, secret: string): void {
  if (!isObjectName(secret)) {
    throw usageError(
      `${at}: "${secret}" is not a valid name of a Secret; write one such as workload-key`,
    );
  }
  if (secret.startsWith(OWN_SECRETS)) {
    throw usageError(
      `${at}: "${secret}" begins with ${OWN_SECRETS}, as the Secrets of the components do, which they may read; write another name`,
    );
  }
}

/** Returns the component that signs for a kind of requests. */
function signing(kind: ServedKind): string {
  const found = [...COMPONENTS].find(
    ([, { servedKind, signsByKeyHolder }]) => servedKind === kind && signsByKeyHolder === true,
  );
  return found?.[0] ?? '';
}

function checkHeld(
  at: string,
  { name, secret, serves }: HeldSigner,
  components: InstallationValues['components'],
): void {
  if (secret !== '') {
    throw usageError(
      `${at}.secret: its key is in a key holder, so no Secret has it; leave secret out, or keyHolder`,
    );
  }
  for (const kind of serves) {
    const component = signing(kind);
    const { enabled = true, keyHolder: holder } = components[component] ?? {};
    const hasKey = holder?.keys.some(({ signerNames }) => signerNames.includes(name)) === true;
    if (!enabled || hasKey) continue;
    throw usageError(
      `${at}.keyHolder: components.${component}.keyHolder has no key for "${name}"; add one, or leave ${kind} out of ${at}.serves`,
    );
  }
}
