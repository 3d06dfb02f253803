// SPDX-License-Identifier: Apache-2.0
/** The values of injection: their shape, their defaults, and checks beyond patterns. */
import * as z from 'zod';
import { MAX_SIGNER_NAME, checkSignerName } from '#api/signer/signer-name.ts';
import { usageError } from '#base/errors.ts';
import { POD_KEY_TYPES } from '#base/vocabulary.ts';
import {
  FILES,
  defaultProfile,
  profileOf,
  type GivenProfile,
  type InjectionProfile,
} from '../admission/injection/profiles.ts';

/** Name of a profile. The name of a volume has 63 characters, of which the prefix takes some. */
const PROFILE_NAME = /^[a-z0-9](?:[-a-z0-9]{0,38}[a-z0-9])?$/;

const profile = z.strictObject({
  name: z
    .string()
    .regex(PROFILE_NAME)
    .describe('What a pod writes into the annotation `countersign.dev/inject`.'),
  signerName: z
    .string()
    .max(MAX_SIGNER_NAME)
    .regex(/^[a-z0-9./-]*$/)
    .describe('The signer whose certificate such a pod gets.'),
  keyType: z.enum(POD_KEY_TYPES).exactOptional().describe('Of its key. Default: `ECDSAP256`.'),
  maxExpirationSeconds: z
    .int()
    .min(3600)
    .max(7_862_400)
    .exactOptional()
    .describe('The longest lifetime to request. Default: a day.'),
  mountPath: z
    .string()
    .max(200)
    .regex(/^(?:\/[A-Za-z0-9_-][A-Za-z0-9._-]*)+$/)
    .exactOptional()
    .describe(
      'The directory of the files, in each container. Default: `/var/run/secrets/countersign.dev/<name>`.',
    ),
  trustBundle: z
    .boolean()
    .exactOptional()
    .describe('Whether the signer’s trust bundle is beside the credentials. Default: `true`.'),
  env: z
    .array(
      z.strictObject({
        name: z
          .string()
          .regex(/^[A-Za-z_][A-Za-z0-9_]*$/)
          .describe('Name of the variable.'),
        file: z.enum(FILES).describe('The file whose path is its value.'),
      }),
    )
    .exactOptional()
    .describe('More environment variables: `SSL_CERT_FILE`, `PGSSLKEY`.'),
});

/** Value `injection`. */
export const injection = z
  .strictObject({
    enabled: z.boolean().describe('Create the policies. Namespaces and pods opt in by themselves.'),
    profiles: z
      .array(profile)
      .describe(
        'What a pod may request. If empty, one for each of `signers` that has a bundle, with the path of its name.',
      ),
  })
  .describe(
    'Volumes with certificates for annotated pods, by a MutatingAdmissionPolicy: docs/how-to/inject-certificates.md.',
  );

/**
 * Returns the profiles, each with its defaults.
 *
 * @param signers - those of the values. One without a bundle has no default profile, because its
 * volume would be empty.
 * @returns undefined if injection is not enabled
 * @throws SignerError USAGE or SIGNER_NAME_INVALID (`fail`), with the value and the fix
 */
export function injectionProfiles(
  { enabled, profiles }: z.infer<typeof injection>,
  signers: readonly { readonly name: string; readonly bundle: string }[],
): readonly InjectionProfile[] | undefined {
  if (!enabled) return undefined;
  const byDefault = signers.filter(({ bundle }) => bundle !== '').map(({ name }) => name);
  const given: readonly GivenProfile[] =
    profiles.length > 0 ? profiles : byDefault.map(defaultProfile);
  if (given.length === 0) {
    throw usageError(
      'injection.profiles: it is empty, and no signer has a bundle; name at least one profile',
    );
  }
  for (const [index, { name, signerName }] of given.entries()) {
    checkSignerName(signerName);
    if (PROFILE_NAME.test(name)) continue;
    throw usageError(
      `injection.profiles[${index}].name: "${name}" is not a valid name; write profiles with names of at most 40 lower-case letters, digits and hyphens`,
    );
  }
  const all = given.map(profileOf);
  for (const [index, each] of all.entries()) checkApart(each, index, all.slice(0, index));
  return all;
}

/** Rejects profiles with a common path or variable, because a pod may name several profiles. */
function checkApart(
  { name, mountPath, environment }: InjectionProfile,
  index: number,
  before: readonly InjectionProfile[],
): void {
  const at = `injection.profiles[${index}]`;
  if (before.some((each) => each.name === name)) {
    throw usageError(`${at}.name: "${name}" is named twice; write another name`);
  }
  const within = (inner: string, outer: string): boolean => `${inner}/`.startsWith(`${outer}/`);
  const other = before.find(
    (each) => within(mountPath, each.mountPath) || within(each.mountPath, mountPath),
  );
  if (other !== undefined) {
    throw usageError(
      `${at}.mountPath: "${mountPath}" and "${other.mountPath}" are one inside the other; write another path`,
    );
  }
  const taken = new Set(before.flatMap((each) => each.environment).map((each) => each.name));
  for (const variable of environment) {
    if (taken.has(variable.name)) {
      throw usageError(`${at}.env: "${variable.name}" is set twice; write another name`);
    }
    taken.add(variable.name);
  }
}
