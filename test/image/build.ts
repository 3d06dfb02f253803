// SPDX-License-Identifier: Apache-2.0
/**
 * `make image`: builds the image, and prints its id and size. `--twice` builds it twice and wants
 * the same bytes; `--archive <file>` writes it as an OCI archive.
 */
import { parseArgs } from 'node:util';
import { statSync } from 'node:fs';
import { buildImage } from './image.ts';
import { buildah } from './store.ts';
import { missingTools } from './tools.ts';

const { values } = parseArgs({
  options: { twice: { type: 'boolean', default: false }, archive: { type: 'string' } },
});
const missing = missingTools();
if (missing.length > 0) {
  console.error(`missing: ${missing.join('; ')}`);
  console.error('On Debian: apt-get install --no-install-recommends buildah binutils');
  process.exit(1);
}
const image = await buildImage(values.twice ? 2 : 1);
console.log(
  `${image.name}  ${image.id}  ${image.megabytes} MB${values.twice ? ', the same bytes twice' : ''}`,
);
if (values.archive !== undefined) {
  await buildah(['push', image.id, `oci-archive:${values.archive}:${image.name}`]);
  console.log(`${values.archive}  ${Math.ceil(statSync(values.archive).size / 1e6)} MB`);
}
