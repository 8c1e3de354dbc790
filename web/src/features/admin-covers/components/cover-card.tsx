import { useEffect, useId, useRef, useState } from "react";
import { zodResolver } from "@hookform/resolvers/zod";
import { Eye, Trash2 } from "lucide-react";
import { useForm } from "react-hook-form";
import { useUpdateCover } from "@/features/admin-covers/api/update-cover";
import { CoverAsSeen } from "@/features/admin-covers/components/cover-as-seen";
import { CoverPreview } from "@/features/admin-covers/components/cover-preview";
import { DeleteCoverDialog } from "@/features/admin-covers/components/delete-cover-dialog";
import {
  coverChange,
  coverKind,
  coverSchema,
  formValues,
  type CoverChange,
  type CoverValues,
} from "@/features/admin-covers/schema";
import { TextField } from "@/components/form/text-field";
import { Button } from "@/components/ui/button";
import { ConflictDialog, type Difference } from "@/components/ui/conflict-dialog";
import { Switch } from "@/components/ui/switch";
import { MediaState } from "@/components/upload/media-state";
import { StillButton } from "@/components/upload/still-button";
import { useUploader } from "@/components/upload/use-upload";
import { BUCKETS, COVER_ORDER_MIN } from "@/lib/constants";
import { useAuth } from "@/lib/auth";
import { draftName, draftOf, dropDraft, keepDraft } from "@/lib/drafts";
import { messageOf } from "@/lib/errors";
import { useT, type Translate } from "@/lib/i18n";
import { ChangedMeanwhile } from "@/lib/save-seen";
import type { Key } from "@/lib/texts";
import { areaToast } from "@/lib/toast";
import type { CoverImage } from "@/lib/types";
import { cn } from "@/lib/cn";

type Draft = { seen: CoverImage; values: CoverValues };
type Conflict = { newer: CoverImage; change: CoverChange; values: CoverValues };

export function CoverCard({ cover }: { cover: CoverImage }) {
  const t = useT();
  const id = useId();
  const [deleting, setDeleting] = useState(false);
  const [looking, setLooking] = useState(false);
  const [conflict, setConflict] = useState<Conflict | null>(null);
  const { user } = useAuth();
  const draft = draftName(user?.id, `covers/${cover.id}`);
  const toggle = useUpdateCover();
  const save = useUpdateCover();
  const { uploadStill } = useUploader(BUCKETS.covers);
  const { register, handleSubmit, watch, reset, setValue, formState } = useForm<CoverValues>({
    resolver: zodResolver(coverSchema),
    // What the server has flows in, but never over something that is being typed.
    values: formValues(cover),
    resetOptions: { keepDirtyValues: true },
    mode: "onSubmit",
    reValidateMode: "onChange",
  });

  // What was typed before the page went away, together with the row that it was typed over.
  const [kept] = useState(() => draftOf(draft) as Draft | undefined);
  const seen = useRef(kept?.seen ?? cover);
  const returning = useRef(kept !== undefined);
  useEffect(() => {
    if (!kept) return;
    for (const name of ["title", "description", "display_order"] as const) {
      setValue(name, kept.values[name], { shouldDirty: true });
    }
  }, [kept, setValue]);

  const active = toggle.isPending ? toggle.variables.change.is_active === true : cover.is_active;
  const values = watch();
  const changed = Object.keys(coverChange(cover, values)).length > 0;
  useEffect(() => {
    if (returning.current) {
      returning.current = false; // the kept words come with the next drawing
      return;
    }
    // The first letter holds the row as it was seen then, whatever is read later.
    if (!changed) seen.current = cover;
    if (changed) keepDraft(draft, { seen: seen.current, values } satisfies Draft);
    else dropDraft(draft);
  });
  const orderError = formState.errors.display_order?.message as Key | undefined;

  const told = {
    onSuccess: () => areaToast({ title: t("covers.toast.updated") }),
    onError: (error: unknown) =>
      areaToast({ title: t("common.error"), description: messageOf(error), destructive: true }),
  };

  function store(from: CoverImage, change: CoverChange, wanted: CoverValues) {
    save.mutate(
      { seen: from, change },
      {
        onSuccess: () => {
          setConflict(null);
          reset(wanted);
          told.onSuccess();
        },
        onError: (error) => {
          if (error instanceof ChangedMeanwhile)
            setConflict({ newer: error.newer as CoverImage, change, values: wanted });
          else told.onError(error);
        },
      },
    );
  }

  return (
    <li
      aria-labelledby={id}
      className={cn(
        "bg-sombra @container rounded-sm border-b-8 transition-colors duration-200",
        active ? "border-barra" : "border-edge",
      )}
    >
      <h2 id={id} className="sr-only">
        {cover.title || t("gallery.untitled")}
      </h2>
      <CoverPreview cover={{ ...cover, is_active: active }} />
      <MediaState info={cover.media?.[cover.image_url]} className="px-5 pt-3" />
      <form
        noValidate
        className="px-5 pt-4 pb-4.5 [&_label]:mb-1.5"
        onSubmit={(event) => {
          if (!changed || save.isPending) event.preventDefault();
          else void handleSubmit((now) => store(seen.current, coverChange(cover, now), now))(event);
        }}
      >
        <Switch
          className="[&_label]:mb-0!"
          label={t(active ? "covers.active" : "covers.inactive")}
          checked={active}
          onCheckedChange={(next) => {
            if (!toggle.isPending)
              toggle.mutate({ seen: cover, change: { is_active: next } }, told);
          }}
        />
        <div
          className={cn(
            "mt-3 grid gap-x-3.5 gap-y-3",
            // Room for the sentence, which would otherwise stand one word a line.
            orderError ? "sm:grid-cols-[minmax(0,1fr)_190px]" : "sm:grid-cols-[minmax(0,1fr)_92px]",
          )}
        >
          <TextField label={t("covers.title")} {...register("title")} />
          <TextField
            label={t("covers.order")}
            type="number"
            inputMode="numeric"
            min={COVER_ORDER_MIN}
            step={1}
            error={orderError && t(orderError)}
            {...register("display_order")}
          />
          <TextField
            className="sm:col-span-2"
            label={t("covers.description")}
            {...register("description")}
          />
        </div>
        <div className="mt-4 flex flex-wrap items-center justify-between gap-2">
          <Button
            variant="ghost"
            size="sm"
            className="text-telha! -ml-2 px-3"
            onClick={() => setDeleting(true)}
          >
            <Trash2 aria-hidden="true" size={20} strokeWidth={1.5} />
            {/* Narrow cards keep their four buttons in one row. */}
            <span className="@max-xs:sr-only">{t("common.delete")}</span>
          </Button>
          <Button
            variant="ghost"
            size="sm"
            className="mr-auto px-3"
            onClick={() => setLooking(true)}
          >
            <Eye aria-hidden="true" size={20} strokeWidth={1.5} />
            <span className="@max-sm:sr-only">{t("covers.preview")}</span>
          </Button>
          {coverKind(cover) === "video" && (
            <StillButton film={cover.image_url} upload={uploadStill} />
          )}
          <Button
            type="submit"
            size="sm"
            className="ml-auto"
            disabled={!changed}
            loading={save.isPending}
          >
            {save.isPending ? t("common.saving") : t("common.save")}
          </Button>
        </div>
      </form>
      <DeleteCoverDialog cover={cover} open={deleting} onClose={() => setDeleting(false)} />
      <CoverAsSeen
        cover={{ ...cover, title: values.title, description: values.description }}
        open={looking}
        onClose={() => setLooking(false)}
      />
      <ConflictDialog
        open={conflict !== null}
        differences={conflict ? differences(conflict, t) : []}
        onNewer={() => {
          if (!conflict) return;
          reset(formValues(conflict.newer), { keepDirtyValues: false });
          setConflict(null);
        }}
        onMine={() => {
          if (conflict) store(conflict.newer, conflict.change, conflict.values);
        }}
        onKeep={() => setConflict(null)}
        busy={save.isPending}
      />
    </li>
  );
}

function differences({ newer, change }: Conflict, t: Translate): Difference[] {
  const labels = {
    title: t("covers.title"),
    display_order: t("covers.order"),
    description: t("covers.description"),
  };
  return (Object.keys(labels) as (keyof typeof labels)[])
    .filter((field) => field in change)
    .map((field) => ({
      label: labels[field],
      theirs: String(newer[field] ?? ""),
      mine: String(change[field] ?? ""),
    }));
}
