// SPDX-License-Identifier: Apache-2.0
import { join } from 'node:path';
import { buildGoProgram } from '../../go/build.ts';

const HELM = 'v4.3.1';

type Log = (line: string) => void;

/** The path of the real helm. */
export function buildHelm(log: Log): Promise<string> {
  return buildGoProgram(
    {
      name: 'helm',
      moduleDirectory: join(import.meta.dirname, 'helm'),
      command: 'helm.sh/helm/v4/cmd/helm',
      onePackageAtATime: true,
      variables: { 'helm.sh/helm/v4/internal/version.version': HELM },
      words: 'building helm: a few minutes the first time',
    },
    log,
  );
}

/** The path of kubeconform, which judges objects by the schemas of an API server. */
export function buildKubeconform(log: Log): Promise<string> {
  return buildGoProgram(
    {
      name: 'kubeconform',
      moduleDirectory: join(import.meta.dirname, 'kubeconform'),
      command: 'github.com/yannh/kubeconform/cmd/kubeconform',
      onePackageAtATime: true,
      words: 'building kubeconform: seconds',
    },
    log,
  );
}

if (import.meta.main) {
  const say = (line: string): void => {
    console.error(line);
  };
  console.log(await buildHelm(say));
  if (process.argv[2] !== 'helm') console.log(await buildKubeconform(say));
}
