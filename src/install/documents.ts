// SPDX-License-Identifier: Apache-2.0
import { stringify } from 'yaml';
import type { Manifest } from './roles.ts';

/** Renders several YAML documents in Prettier's format: unfolded lines, single quotes. */
export function documentsOf(manifests: readonly Manifest[]): string {
  const documents = manifests.map((manifest) =>
    stringify(manifest, { lineWidth: 0, singleQuote: true, aliasDuplicateObjects: false }),
  );
  return documents.join('---\n');
}
