import { useEffect, useState } from "react";
import { useLocation, useNavigate } from "react-router";
import { scrollToSectionSoon } from "@/lib/scroll";
import type { Product } from "@/lib/types";
import type { Enquiry } from "@/features/contact/enquiry";

type Place = { ask?: Enquiry };

/** Leads from a work to the contact form, which then names it; what can be made to order is a commission. */
export function useAskAbout(): (product: Product) => void {
  const navigate = useNavigate();
  return (product) => {
    const ask: Enquiry = {
      title: product.title.trim(),
      reason: product.is_customizable ? "commission" : "purchase",
    };
    void navigate("/", { state: { ask } satisfies Place });
    scrollToSectionSoon("contact");
  };
}

/** The work that the visitor came to ask about. Taken out of the history, so that a reload asks nothing. */
export function useEnquiry(): Enquiry | null {
  const location = useLocation();
  const navigate = useNavigate();
  const [enquiry, setEnquiry] = useState<Enquiry | null>(null);
  const ask = (location.state as Place | null)?.ask;
  const { search } = location;

  useEffect(() => {
    if (!ask) return;
    setEnquiry(ask);
    void navigate({ pathname: "/", search }, { replace: true, state: null });
  }, [ask, search, navigate]);

  return enquiry;
}
