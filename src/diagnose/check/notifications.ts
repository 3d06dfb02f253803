// SPDX-License-Identifier: Apache-2.0
/** The check of the optional notifier. Pure: facts in, outcomes out. */
import { NOTIFICATION_FAULTS, TARGET_GONE } from '#api/serving/report.ts';
import type { InstallationFacts } from './facts.ts';
import { allWell, ok, warning, whereSeen, type Outcome } from './finding.ts';
import { reportedFaults } from './installation.ts';
import { runningComponents } from './leases.ts';

const NOTIFIER = 'notifier';

/** `notifications-delivered` */
export function checkNotifications({ leases, now }: InstallationFacts): readonly Outcome[] {
  return whereSeen(leases, (all) => {
    if (!runningComponents(all, now).has(NOTIFIER))
      return [ok('notifier does not run and sends nothing')];
    const faults = reportedFaults(all, now).filter(
      ({ component, fault }) =>
        component === NOTIFIER && NOTIFICATION_FAULTS.includes(fault.reason),
    );
    return allWell(
      faults.map(({ fault: { reason, message } }) =>
        warning(
          message,
          reason === TARGET_GONE
            ? 'give the target its new URL in notifications.targets (--target), or leave it out'
            : 'fix what the message says; until then its events wait, for a day at most',
          `deployment/countersign-${NOTIFIER}`,
        ),
      ),
      'notifier delivers to every target',
    );
  });
}
