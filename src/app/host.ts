// SPDX-License-Identifier: Apache-2.0
import { readEgressProxy } from '#base/egress/egress-proxy.ts';
import type { Host } from '#component/host.ts';
import { COMPONENTS } from '#install/component-list.ts';
import { runComponent, type ComponentIdentity } from './run-component.ts';
import type { ComponentOptions } from './component-options.ts';
import { clock, delay, monotonic } from './process.ts';
import { VERSION } from './version.ts';

/** Returns the host of a component. @param flags - the values of its flags */
export function createHost(
  component: ComponentIdentity,
  flags: ComponentOptions,
): Host<ComponentOptions> {
  return {
    flags,
    components: [...COMPONENTS.keys()],
    version: VERSION,
    userAgent: `countersign/${VERSION}`,
    program: process.argv[1] ?? '',
    clock,
    monotonic,
    delay,
    egressProxy: () => readEgressProxy(process.env),
    run: (make) => runComponent(component, flags, make),
  };
}
