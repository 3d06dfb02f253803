// SPDX-License-Identifier: Apache-2.0
import { usageError } from '#base/errors.ts';
import type { CeremonyFile, SigningVerb } from '#ca/ceremony/ceremony-file.ts';

/**
 * Returns the paths of a transcript and of its signature, beside the output of the section.
 *
 * @throws SignerError USAGE (`fail`) if the file has no such section
 */
export function transcriptPaths(
  file: CeremonyFile,
  verb: SigningVerb,
): { readonly transcript: string; readonly signature: string } {
  const output = {
    root: file.root === undefined ? undefined : file.ca.certificate,
    intermediate: file.intermediate?.certificate,
    cross: file.cross?.certificate,
    crl: file.crl?.file,
  }[verb];
  if (output === undefined) throw usageError(`the file of the ceremony has no section ${verb}`);
  return { transcript: `${output}.transcript.json`, signature: `${output}.transcript.sig` };
}
