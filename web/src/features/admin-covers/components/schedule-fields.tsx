import { useEffect, useState } from "react";
import type { UseFormRegister } from "react-hook-form";
import { ChevronDown } from "lucide-react";
import type { CoverValues } from "@/features/admin-covers/schema";
import { TextField } from "@/components/form/text-field";
import { useT } from "@/lib/i18n";

type ScheduleFieldsProps = {
  register: UseFormRegister<CoverValues>;
  /** The error below the input of the end; undefined if the end is valid. */
  untilError: string | undefined;
  /** Whether the beginning or the end is set. */
  hasTimes: boolean;
};

/**
 * The inputs for the schedule of a cover (a large picture or video at the top of the home page): from when and until when visitors
 * see the cover. The inputs are collapsed until one of the two times is set.
 */
export function ScheduleFields({ register, untilError, hasTimes }: ScheduleFieldsProps) {
  const t = useT();
  const [open, setOpen] = useState(hasTimes);
  // Opens the inputs, but never closes them: while the owner types a time, the browser reports the unfinished input as empty, so
  // hasTimes is false.
  useEffect(() => {
    if (hasTimes || untilError) setOpen(true);
  }, [hasTimes, untilError]);
  return (
    <details
      open={open}
      onToggle={(event) => setOpen(event.currentTarget.open)}
      className="group mt-2"
    >
      <summary className="hover:text-indigo inline-flex min-h-11 cursor-pointer list-none items-center gap-1.5 [&::-webkit-details-marker]:hidden">
        <ChevronDown
          aria-hidden="true"
          size={20}
          strokeWidth={1.5}
          className="transition-transform duration-200 group-open:rotate-180"
        />
        {t("covers.schedule")}
      </summary>
      <div className="mt-1 grid gap-3.5 @md:grid-cols-2">
        <TextField
          type="datetime-local"
          label={t("covers.visibleFrom")}
          {...register("visible_from")}
        />
        <TextField
          type="datetime-local"
          label={t("covers.visibleUntil")}
          error={untilError}
          {...register("visible_until")}
        />
        <p className="text-ink2 text-sm @md:col-span-2">
          {t("covers.scheduleHint", { zone: new Intl.DateTimeFormat().resolvedOptions().timeZone })}
        </p>
      </div>
    </details>
  );
}
