// SPDX-License-Identifier: GPL-3.0-or-later
// The words of the Search view.
#pragma once

#include <QString>
#include <cstdint>

#include "app/selection/selection_panel.h"
#include "app/state/plan/plan_search.h"
#include "app/views/search/picture/search_paint.h"
#include "app/views/shared/words/plan_words.h"
#include "app/views/shared/words/setup_words.h"

namespace parallelarium {

inline constexpr std::int64_t kGib = std::int64_t{1} << 30;  // bytes

QString gib_text(std::int64_t bytes);             // "74.5", of GiB
QString batch_text(const PlanSearch& search);     // "1,048,576 tokens a step"
QString question_text(const PlanSearch& search);  // "What should run on 64 GPUs"
// With units, arrows and the values of axes beside what they belong to, where lines break.
QString firm_text(const QString& text);
// How much longer the step takes, "+1.2 s, tie"; a dash where it cannot be.
QString change_value(const PlanAnswer& answer, const PlanWhy& why);
QString rule_text(const ToldRule& rule);  // a rule of thumb, what it costs, and who says so
QString rule_tip(const ToldRule& rule);   // who says so, and which plan a click selects
QString example_tip(const Setup& example);
QString outdated_plans_text();  // that a search of what is set now is missing
// That the answer, or the search under way, is of other settings or less than asked; empty: none.
QString remark_text(const PlanSearch& search);
QString today_text(const Setup& today);  // its layout, and on which model it is
// What the framework needs for a plan that its usual launch line has not; empty: nothing, or no
// framework.
QString needs_text(const std::string& framework, const Setup& setup);
// Where what is trained today stands, and the one change that serves it best.
QStringList today_sentences(const PlanAnswer& answer, const ExplainedPlan& today);
// Nothing where there is none that can be trained.
std::vector<TodayFigure> today_figures(const PlanSearch& search);
// "The fastest, the simplest", of what a plan is recommended for.
QString merits_text(const PlanAnswer& answer, const std::vector<std::string>& merits);
// "5.53 s ± 9.1 %"; without the error where none is known.
QString step_text(const PlanAnswer& answer, const FoundPlan& plan);
// What limits it: the two largest parts of its step, and how full the memory is.
QString limits_text(const FoundPlan& plan, std::int64_t capacity_bytes);
QString bubble_text(const FoundPlan& plan);           // a dash without a pipeline
QString memory_trust_text(const PlanAnswer& answer);  // how far memory can be trusted
QString model_title(const PlanAnswer& answer);        // which its recommended plans train
// How far steps, memory and their order can be trusted.
QStringList trust_texts(const PlanAnswer& answer);
// "memory": what the best plans are best by.
QString objective_text(const std::string& objective);
// Why candidates were lost, with what would make their example fit.
QString loss_text(const PlanLoss& loss);
QString class_text(PlanAnswer::Class of);    // "do not fit in memory"
QString tie_text(const PlanAnswer& answer);  // what shares a rank, and why
// How many share rank 1, and how many more are as close; empty where the first has it alone.
QString tied_text(const PlanAnswer& answer);
// "Why not TP 8", and what came of it; empty where nothing was asked.
QString value_head(const PlanSearch& search);
QString value_said(const PlanSearch& search);
// What the whole training that is wished for takes with the plan: "23.0 days, 35,300 GPU hours".
QString training_text(const PlanWish& wish, const FoundPlan& plan);
// Of the selected plan.
SelectionText describe_plan(const PlanSearch& search);
QString quantity_origin(const QString& quantity);  // how a figure of a plan comes about
// What a plan is, at a dot of the scatter.
QString plan_tip(const PlanSearch& search, const FoundPlan& plan);
// The same of a dot whose plan the search did not keep.
// A simulated plan that the search did not keep: its dot has figures, and no Setup.
SelectionText describe_point(const PlanSearch& search, double seconds, std::int64_t bytes);
QString point_tip(const PlanSearch& search, double seconds, std::int64_t bytes);
// What is known of less memory than was searched.
QString limited_text(const PlanSearch& search);
// "How few remain", and of a smaller limit with how much memory that was counted.
QString funnel_title(const PlanAnswer& answer);
// That the best are those found until the search was cancelled.
QString cancelled_text(const PlanAnswer& answer);
// The whole view in words: state, funnel, front and the best.
QString search_description(const PlanSearch& search);

}  // namespace parallelarium
