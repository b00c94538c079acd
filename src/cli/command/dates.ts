/** Days that people give on the command line: they mean days where they are (spec.md#wire-dates). */

interface DateFlags {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

/** With the zone of this machine, which TZ can set. */
export function datesOf({ from, to }: DateFlags): {
  readonly from_date?: string;
  readonly to_date?: string;
  readonly time_zone?: string;
} {
  if (from === undefined && to === undefined) return {};
  const zone = new Intl.DateTimeFormat().resolvedOptions().timeZone;
  return {
    ...(from === undefined ? {} : { from_date: from }),
    ...(to === undefined ? {} : { to_date: to }),
    // A machine whose zone nobody knows counts in UTC.
    ...(zone === "Etc/Unknown" ? {} : { time_zone: zone }),
  };
}
