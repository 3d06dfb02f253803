// SPDX-License-Identifier: Apache-2.0
import { join } from 'node:path';

/** A demo whose cluster stays. */
export interface KeptDemo {
  readonly kubeconfig: string;
  /** The directory of the cluster's files, `kubectl` among them. */
  readonly directory: string;
  /** Values of `countersign install`. Undefined where the components are processes. */
  readonly values: string | undefined;
  /** One line for each place of the components' logs and ports. */
  readonly places: readonly string[];
}

const ROOT = join(import.meta.dirname, '..');
const PAGE = join(ROOT, 'docs/how-to/try-the-demo.md');

/** Returns the commands to try on a kept cluster. They work as printed, from any directory. */
export function invitation({ kubeconfig, directory, values, places }: KeptDemo): string {
  return `
The cluster stays up until Ctrl-C. Try:

  export KUBECONFIG=${kubeconfig}
  alias kubectl=${directory}/kubectl
  alias countersign='${process.execPath} ${join(ROOT, 'dist/countersign.mjs')}'
  kubectl get clustersigners,clustertrustbundles,csr
  kubectl get podcertificaterequests -A
  kubectl describe clustersigner workload
  kubectl get events.events.k8s.io -A --field-selector reportingController=countersign.dev/pcr-issuer
  countersign check
  countersign inspect pod/web -n team-a
  countersign explain pod/legacy -n team-a
  countersign explain csr/jane-admin
  countersign authority show
  countersign authority prepare workload --dry-run
  countersign console
${ofValues(values)}
The components:

${places.map((line) => `  ${line}`).join('\n')}

More: ${PAGE}
`;
}

function ofValues(values: string | undefined): string {
  if (values === undefined) return '';
  return `
To add a signer, add {"name": "DOMAIN/NAME"} to signers in ${values}, then:

  countersign install --values ${values}
`;
}
