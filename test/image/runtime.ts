// SPDX-License-Identifier: Apache-2.0
import { join } from 'node:path';
import type { RootFileSystem } from './root-file-system.ts';

/** The project's own Node 24, of the npm package `node`. */
export const NODE = join(import.meta.dirname, '../../node_modules/node/bin/node');

/** Lays out what a distroless Node has: Node, the libraries it needs, the user nonroot. */
export async function layRuntime(root: RootFileSystem): Promise<void> {
  await root.copyProgram(NODE, '/nodejs/bin/node');
  root.write(
    '/etc/passwd',
    'root:x:0:0:root:/root:/sbin/nologin\nnonroot:x:65532:65532:nonroot:/home/nonroot:/sbin/nologin\n',
  );
  root.write('/etc/group', 'root:x:0:\nnonroot:x:65532:\n');
  for (const path of ['/dev', '/proc', '/sys', '/home/nonroot']) root.makeDirectory(path);
  root.makeDirectory('/tmp', 0o1777);
}
