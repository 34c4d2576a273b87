"""Example values of reports for the API reference."""

from sealdesk.reports.responses import (
    ReportAge,
    ReportFigures,
    ReportGroup,
    ReportResponse,
    ReportStep,
)

_FIGURES = ReportFigures(
    created=214,
    answered=201,
    resolved=196,
    reopened=9,
    first_response_median_s=2_460,
    first_response_p90_s=19_800,
    resolution_median_s=43_200,
    resolution_p90_s=172_800,
    first_response_business_median_s=1_980,
    first_response_business_p90_s=9_120,
    resolution_business_median_s=21_600,
    resolution_business_p90_s=79_200,
    sla_promises=397,
    sla_kept_percent=94,
    ratings=58,
    satisfied_percent=91,
    reopened_percent=4,
)
REPORT = ReportResponse(
    period="month",
    first_day="2027-03-01",
    last_day="2027-03-31",
    time_zone="Europe/Berlin",
    is_complete=True,
    figures=_FIGURES,
    previous_figures=_FIGURES,
    step="week",
    steps=[ReportStep("2027-02-28T23:00:00.000000Z", _FIGURES)],
    groups=[ReportGroup("0199c0de-1a2b-7c3d-8e4f-5a6b7c8d9e0f", "Billing", _FIGURES)],
    unfinished=[ReportAge(0, 1, 12), ReportAge(1, 3, 7), ReportAge(30, None, 2)],
)
