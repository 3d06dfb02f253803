// SPDX-License-Identifier: Apache-2.0
/** The commands of README.md, and what runs each. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');

/** What each command below "What you see" shows, by the command; `person.test.ts` runs them. */
export const SHOWN: Readonly<Record<string, RegExp>> = {
  'kubectl get clustersigner workload': /\bREADY\b.*\n.*\bTrue\b/,
  'kubectl get pod web -n team-a': /\bRunning\b/,
  'countersign inspect pod/web -n team-a': /spiffe:\/\/cluster\.local\/ns\/team-a\/sa\/web\b/,
  'countersign explain pod/web -n team-a': /^pod\/web in namespace team-a: Issued$/m,
};

/** The files that run the other commands, with words of theirs that do. */
export const RUN_BY: Readonly<Record<string, readonly [file: string, words: string]>> = {
  'make demo': ['.ci/run', 'make demo'],
  'make test': ['.ci/run', 'make test'],
  // buildah builds the Dockerfile on base images made of this machine: there is no Docker and no
  // registry where the tests run.
  'docker build': ['test/integration/image.test.ts', 'buildImage('],
  // Clusters of tests have the image under the name that it would be pushed to.
  'docker push': ['test/cluster/real-pods/images.ts', "'registry.example/countersign'"],
  'helm install': ['test/real-pods/person.test.ts', "readmeBlock('helm install')"],
  'kubectl apply': ['test/real-pods/person.test.ts', "readmeBlock('helm install')"],
  'countersign ceremony': ['test/cli/ceremony/pages.test.ts', "'ceremony'"],
};

function readme(): string {
  return readFileSync(join(ROOT, 'README.md'), 'utf8');
}

function blocks(): readonly string[] {
  return [...readme().matchAll(/^```\n([^]*?)^```/gm)].map(([, text = '']) => text);
}

/** Returns the code block that begins with a command, or throws. */
export function readmeBlock(command: string): string {
  const found = blocks().find((text) => text.startsWith(command));
  if (found === undefined) throw new Error(`README.md has no block that begins with ${command}`);
  return found;
}

/** Returns every command: each of the blocks, and each in the text. */
export function readmeCommands(): readonly string[] {
  const lines = blocks()
    .flatMap((text) => text.split('\n'))
    .flatMap((line) => line.replace(/ +#.*/, '').split(' && '))
    .filter((line) => line !== '');
  const prose = readme().replaceAll(/^```\n[^]*?^```/gm, '');
  const inline = [...prose.matchAll(/`((?:make|kubectl|countersign|helm|docker) [^`]+)`/g)];
  return [...new Set([...lines, ...inline.map(([, command = '']) => command)])];
}
