"""Tests fail on broken code: each fault is put into a copy, and a named test must notice it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.forked_pytest import Forking, forking

ROOT = Path(__file__).parents[1]


class Fault(NamedTuple):
    what: str
    #: in src/slotwise, or in research
    file: str
    sound: str
    broken: str
    test: str
    #: whether the test needs compiled code to be over soon; most are quicker without than the compiler would be
    compiled: bool = False


FAULTS = [
    Fault(
        "a click that was bought is worth no more than a click",
        "logs/reading/event_tables.py",
        "coalesce(greatest({', '.join(parts)}), 0.0)",
        "coalesce(least({', '.join(parts)}), 0.0)",
        "tests/logs/reading/test_event_formats.py::test_given_weights_count_the_most_valuable_event",
    ),
    Fault(
        "a query id for two queries belongs to the first of them",
        "logs/reading/ubi_events.py",
        "CASE WHEN first = last THEN first END AS query",
        "first AS query",
        "tests/logs/reading/test_event_formats.py::test_every_kind_of_bad_input_is_counted_and_named",
    ),
    Fault(
        "a click without a readable time is lost",
        "logs/reading/event_tables.py",
        "kinds IS NOT NULL AS clicked",
        "click_time IS NOT NULL AS clicked",
        "tests/logs/reading/test_event_formats.py::test_a_click_without_a_readable_time_counts",
    ),
    Fault(
        "an event without a query id is not named",
        "logs/reading/ubi_events.py",
        "count(*) FILTER (page IS NULL AND kind >= 0)",
        "count(*) FILTER (page IS NULL AND kind > 99)",
        "tests/logs/reading/test_event_formats.py::test_every_kind_of_bad_input_is_counted_and_named",
    ),
    Fault(
        "a click before its page is taken for one without an impression",
        "logs/reading/ga4_events.py",
        "AND shown.item = joined.item) AS later",
        "AND shown.item = joined.item AND false) AS later",
        "tests/logs/reading/test_event_formats.py::test_ga4_clicks_belong_to_the_last_page_that_showed_the_item",
    ),
    Fault(
        "a page of a scroll that was lost is not noticed",
        "logs/reading/search_server.py",
        "if count != total:",
        "if count > total:",
        "tests/logs/reading/test_search_server.py::test_an_index_that_comes_short_is_read_again",
    ),
    Fault(
        "a page of a scroll is asked for again after its answer was lost",
        "logs/reading/search_server.py",
        "if not repeatable and not isinstance",
        "if False and not isinstance",
        "tests/logs/reading/test_search_server.py::test_a_lost_page_is_never_asked_for_again",
    ),
    Fault(
        "what a click on a document was worth is not shrunk",
        "judgements/value_per_click.py",
        "between / np.maximum(between + within / n, 1e-300)",
        "1.0",
        "tests/judgements/test_value_per_click.py::test_equal_documents_have_nearly_equal_values",
    ),
    Fault(
        "the slots of a query are taken for those of the log",
        "judgements/click_levels.py",
        "effects = (slot_shape + clicked) / (slot_shape + by_query)",
        "effects = (slot_shape + by_query) / (slot_shape + by_query)",
        "tests/judgements/test_click_levels.py::test_slots_of_each_query_are_found_where_queries_differ",
    ),
    Fault(
        "features that predict nothing are used all the same",
        "judgements/feature_prior.py",
        "    if best is None:\n        return np.ones(len(clicks))\n",
        "    best = 1.0 if best is None else best\n",
        "tests/judgements/test_feature_prior.py::test_features_that_tell_nothing_hardly_matter",
    ),
    Fault(
        "of several clicks of a visit only the first is learned from",
        "posterior/updates.py",
        "if clicked <= 1:",
        "if clicked <= 9:",
        "tests/policies/test_thompson_sampling.py::test_visits_with_several_clicks_are_learned_as_their_tally",
    ),
    Fault(
        "what has faded counts as much as what was just seen",
        "logs/fitting/time_drift.py",
        "else 0.5 ** ((periods.count - 1 - period) / half_life)",
        "else 1.0",
        "tests/logs/fitting/test_time_drift.py::test_a_change_is_found_with_its_items_and_its_day",
    ),
    Fault(
        "an item of a segment is drawn to nothing that it is in others",
        "logs/fitting/placement_pooling.py",
        "items, names = numbered(item_ids, within)",
        "items, names = numbered(item_ids, list(range(len(item_ids))))",
        "tests/logs/fitting/test_default_fit.py::test_segments_that_are_alike_are_pooled",
    ),
    Fault(
        "items that were hardly ever shown are taken for as good as those of which much is known",
        "estimators/pooled/exposure_prior.py",
        "score = ndtri(share)",
        "score = np.zeros_like(share)",
        "tests/estimators/pooled/test_pooled_fit.py::test_rarely_shown_items_are_not_estimated_like_often_shown_ones",
    ),
    Fault(
        "what is believed of slots that were hardly seen has symmetric intervals",
        "estimators/estimate.py",
        "self.uncertainty.around_slots(self.position_bias",
        "around_logarithm(self.position_bias",
        "tests/posterior/test_summary.py::test_intervals_of_hardly_seen_slots_cover",
    ),
    Fault(
        "where an item stood once is taken for where it always stands",
        "estimators/pooled/cell_prior.py",
        "1.0 / (1.0 / self.shape + self.by_chance)",
        "np.full_like(self.by_chance, self.shape)",
        "tests/estimators/pooled/test_exposure_prior.py::test_a_rarely_shown_cell_has_a_wider_prior",
    ),
    Fault(
        "items of a log are taken for more alike than they are where most impressions have a click",
        "estimators/pooled/marginal_likelihood.py",
        "return cells.clicks - (1.0 - part) * pairs,",
        "return part * cells.clicks,",
        "tests/estimators/pooled/test_pooled_fit.py::test_counts_that_the_prior_is_learned_from_have_the_score_of_the_choices",
    ),
    Fault(
        "users click a little more often than they should",
        "click_models/mnl.py",
        "left = rng.random() * total - 1.0",
        "left = rng.random() * total - 0.95",
        "tests/click_models/test_mnl.py::test_draws_have_the_choice_probabilities",
    ),
    Fault(
        "epochs end a little too late",
        "click_models/mnl.py",
        "left = rng.random() * total - 1.0",
        "left = rng.random() * total - 0.95",
        "tests/click_models/test_mnl.py::test_clicks_of_an_epoch_are_geometric",
    ),
    Fault(
        "a tie for the last place favours those that were there",
        "optimize/top_k.py",
        "drawn = first + below(seen, rng)",
        "drawn = first + below(seen + 1, rng)",
        "tests/optimize/test_top_k.py::test_ties_are_broken_uniformly",
    ),
    Fault(
        "a shuffle never leaves an entry in its place",
        "core/random.py",
        "j = start + below(i - start + 1, rng)",
        "j = start + below(i - start, rng)",
        "tests/core/test_random.py::test_shuffle_is_uniform_and_stays_within_its_bounds",
    ),
    Fault(
        "equal assignments go by the items' numbers",
        "optimize/assignment.py",
        "shuffle(room.item_order, 0, items, rng)",
        "pass",
        "tests/optimize/test_assignment.py::test_no_label_is_favoured_among_equals",
    ),
    Fault(
        "equal items go by their numbers in a list for a goal",
        "optimize/fractional_program.py",
        "        number = rng.random()\n",
        "        number = float(item)\n",
        "tests/optimize/test_fractional_program.py::test_no_label_is_favoured_among_equals",
    ),
    Fault(
        "an empty slot draws clicks",
        "click_models/mnl.py",
        "    for slot in range(last):\n        if not (may_be_empty and ranking[slot] == EMPTY):\n",
        "    for slot in range(last):\n        if may_be_empty:\n",
        "tests/optimize/test_goal_value.py::test_draws_skip_empty_slots",
    ),
    Fault(
        "a no-click counts twice for the first slot",
        "core/tally.py",
        "passes[slot, ranking[slot]] += 1\n",
        "passes[slot, ranking[slot]] += 2 if slot == 0 else 1\n",
        "tests/core/test_tally.py::test_clicks_less_gamma_passes_is_a_martingale_under_any_policy[toprank]",
        compiled=True,
    ),
    Fault(
        "TopRank counts a click against items that were clicked as well",
        "policies/paper/toprank.py",
        "if policy.item_clicked[other]:",
        "if other == winner:",
        "tests/policies/paper/test_toprank.py::test_blocks_match_the_published_algorithm[True]",
    ),
    Fault(
        "GRAB shows its leader every J rounds",
        "policies/baselines/grab.py",
        "max(2, task.items - task.slots)",
        "max(2, task.items)",
        "tests/policies/baselines/test_grab.py::test_the_list_is_the_leader_or_its_neighbour_of_the_largest_bounds",
    ),
    Fault(
        "MNL-UCB's bounds count pairs in place of items",
        "policies/baselines/mnl_ucb.py",
        "math.sqrt(len(policy.index)) * (",
        "math.sqrt(len(policy.index) * len(policy.ranking)) * (",
        "tests/policies/baselines/test_mnl_ucb.py::test_the_items_with_the_papers_largest_bounds_are_shown",
    ),
    Fault(
        "a click is a trial of every item on the list",
        "policies/baselines/p2mle_ucb.py",
        "if ranking[slot] != EMPTY and (slot == clicked or clicked == NO_CLICK):",
        "if ranking[slot] != EMPTY:",
        "tests/policies/baselines/test_p2mle_ucb.py"
        "::test_the_index_is_the_pairwise_maximum_likelihood_estimate_and_its_bound",
    ),
    Fault(
        "TS-Cascade draws each item by itself",
        "policies/baselines/ts_cascade.py",
        "index[item] = share + drawn *",
        "index[item] = share + rng.standard_normal() *",
        "tests/policies/baselines/test_ts_cascade.py::test_the_index_is_that_of_cheung_tan_and_zhong",
    ),
    Fault(
        "an interrupted sweep forgets what is done",
        "simulation/environment_sweep.py",
        "            interrupted = True\n",
        "            interrupted = bool(results.clear()) or True\n",
        "tests/simulation/test_environment_sweep.py::test_ctrl_c_keeps_the_policies_that_are_done",
    ),
    Fault(
        "PBM-UCB learns the first click only",
        "policies/paper/pbm_ucb.py",
        "if clicks[slot]:",
        "if clicks[slot] and not clicks[:slot].any():",
        "tests/policies/paper/test_pbm_ucb.py::test_the_index_is_that_of_lagree[several]",
    ),
    Fault(
        "TopRank starts from the items' numbers",
        "policies/paper/toprank.py",
        "drawn = slot + below(policy.stop[order[slot]] - slot, rng)",
        "drawn = slot",
        "tests/policies/test_conformance.py::test_the_first_ranking_favours_no_item[toprank]",
    ),
    Fault(
        "Epoch-UCB's bound is twice as wide",
        "policies/indices/epoch_index.py",
        "WIDTH = 4.0",
        "WIDTH = 8.0",
        "tests/simulation/test_regret.py::test_regret_matches_the_recorded_regret[b-epoch-ucb]",
        compiled=True,
    ),
    Fault(
        "the exact sampler gives doing nothing half its weight",
        "research/joint_gibbs.py",
        "        total = 1.0\n",
        "        total = 0.5\n",
        "research/tests/test_joint_gibbs.py::test_the_auxiliary_variables_stand_for_passes",
    ),
    Fault(
        "the sampled bias has a fifth too little spread",
        "posterior/hyperparameters.py",
        "inverse_root(bias.cholesky, 1.0, bias.root)",
        "inverse_root(bias.cholesky, 0.8, bias.root)",
        "tests/posterior/test_hyperparameters.py::test_the_spread_is_a_root_of_the_inverse_curvature",
    ),
    Fault(
        "a pairwise bound is a little too low",
        "policies/indices/kl_bernoulli.py",
        "math.expm1(min(level / trials, 700.0))",
        "math.expm1(min(0.99 * level / trials, 700.0))",
        "tests/policies/indices/test_kl_bernoulli.py::test_a_bound_is_missed_with_probability_at_most_exp_minus_the_level",
    ),
    Fault(
        "standard errors from a tally's equations are a fifth too small",
        "estimators/uncertainty/sandwich_errors.py",
        "return np.sqrt(of_items), np.sqrt(of_slots)",
        "return 0.8 * np.sqrt(of_items), 0.8 * np.sqrt(of_slots)",
        "tests/estimators/uncertainty/test_intervals.py::test_nine_in_ten_hold_the_truth[scaling-at random]",
    ),
    Fault(
        "standard errors of maximum likelihood are a fifth too small",
        "estimators/likelihoods/joint_likelihood.py",
        "variance[free] = _diagonal_of_inverse(matrix)",
        "variance[free] = 0.64 * _diagonal_of_inverse(matrix)",
        "tests/estimators/uncertainty/test_intervals.py::test_nine_in_ten_hold_the_truth[maximum-likelihood-at random]",
        compiled=True,
    ),
    Fault(
        "what is believed is as sure as if the clicks were Poisson and the bias known",
        "posterior/summary.py",
        "lambda: sandwich.log_errors(beside=None if is_known else 0)",
        "lambda: (1.0 / np.sqrt(curvature.items), np.zeros_like(bias))",
        "tests/posterior/test_summary.py::test_90_percent_intervals_cover[most visits click-known bias]",
    ),
    Fault(
        "a learned bias leaves items on a scale of their own",
        "posterior/summary.py",
        "Estimate(alpha * scale, bias / scale,",
        "Estimate(alpha, bias / scale,",
        "tests/posterior/test_summary.py::test_90_percent_intervals_cover[few visits click-unknown bias]",
    ),
    Fault(
        "a segment is as sure of its items as if it were known what they are to everybody",
        "posterior/summary.py",
        "lambda: _extra_variance(posterior, segment, *shares, is_known),",
        "lambda: tuple(0.0 * part for part in _extra_variance(posterior, segment, *shares, is_known)),",
        "tests/posterior/test_summary.py::test_90_percent_intervals_cover_of_a_segment[segments are alike]",
    ),
    Fault(
        "what one segment likes is learned of another",
        "ranker/policy_runner.py",
        "set_segment(self.record, segment)",
        "set_segment(self.record, 0)",
        "tests/ranker/test_segment_names.py::test_segments_with_opposite_tastes_are_shown_different_lists",
    ),
    Fault(
        "a policy that starts anew remembers what it had forgotten",
        "ranker/segment_counts.py",
        "return [self._sums] if not self.by_period else [period.counted for period in self._periods]",
        "return [self._sums]",
        "tests/ranker/test_ranker.py::test_old_counts_are_forgotten_also_after_loading",
    ),
    Fault(
        "the limit forgets that items may change places",
        "research/graves_lai/alternatives.py",
        "        half_spaces.append(HalfSpace(-rise, math.log(alpha[start - 1] / alpha[start]), -1))\n",
        "",
        "research/tests/test_graves_lai.py::test_the_limit_is_that_of_brute_force[three items-False]",
    ),
    Fault(
        "the limit lets the clicks on the best list change",
        "research/graves_lai/alternatives.py",
        "-group_rows[group[page.first[: page.in_list]]]",
        "0.0 * group_rows[group[page.first[: page.in_list]]]",
        "research/tests/test_graves_lai.py::test_the_limit_is_that_of_brute_force[three items-False]",
    ),
    Fault(
        "the limit lets in all identical items at once",
        "research/graves_lai/alternatives.py",
        "    lists, rates = _marked(page, space.entering, lists, rates)\n",
        "    lists = np.where(lists == space.entering, len(page.kinds), lists)\n",
        "research/tests/test_graves_lai.py::test_each_of_several_identical_items_has_to_be_ruled_out",
    ),
    Fault(
        "the search for lists gives up on what it has not cleared",
        "research/graves_lai/overpaid.py",
        "if ranking is None or bound >= 0:",
        "if ranking is None or bound >= -1.0:",
        "research/tests/test_graves_lai.py::test_searching_lists_misses_no_list_that_is_overpaid",
    ),
    Fault(
        "with known bias the limit counts identical items once",
        "research/graves_lai/limit.py",
        "rate = float(page.count[kind]) / divergence",
        "rate = 1.0 / divergence",
        "research/tests/test_graves_lai.py::test_the_limit_is_that_of_brute_force[two items tied below the list-True]",
    ),
    Fault(
        "outcomes come a tenth too early",
        "simulation/world_state.py",
        "math.log(1.0 - rng.random()) / state.delay_log_stay",
        "0.9 * math.log(1.0 - rng.random()) / state.delay_log_stay",
        "tests/simulation/test_world_state.py::test_random_delays_are_geometric",
    ),
    Fault(
        "outcomes that waited are told the other way round",
        "simulation/delay_queue.py",
        "waiting.shown[row] < waiting.shown[other]",
        "waiting.shown[row] > waiting.shown[other]",
        "tests/simulation/test_world_loop.py::test_outcomes_with_random_delays_arrive_once_in_order_in_their_segment",
    ),
    Fault(
        "the first segment looks a little too seldom",
        "simulation/world_state.py",
        "drawn >= state.shares[segment]",
        "drawn >= 0.9 * state.shares[segment]",
        "tests/simulation/test_world_state.py::test_segments_look_by_their_shares_and_one_alone_draws_nothing",
    ),
    Fault(
        "a walk narrows as it goes on",
        "simulation/world_state.py",
        "math.sqrt(-math.expm1(-2.0 * world.step / walk.rounds))",
        "math.sqrt(-math.expm1(-1.5 * world.step / walk.rounds))",
        "tests/simulation/test_world_state.py::test_the_walk_is_stationary_with_its_correlation",
    ),
    Fault(
        "a walk forgets twice as fast, at the same width",
        "simulation/world_state.py",
        "    keeps = math.exp(-world.step / walk.rounds) if walk else 0.0\n",
        "    walk = walk and type(walk)(walk.sd, walk.rounds / 2.0)\n"
        "    keeps = math.exp(-world.step / walk.rounds) if walk else 0.0\n",
        "tests/simulation/test_world_state.py::test_the_walk_is_stationary_with_its_correlation",
    ),
    Fault(
        "cycles favour one time of the day",
        "simulation/world_items.py",
        "phases = rng.random(items)",
        "phases = rng.random(items) ** 1.3",
        "tests/simulation/test_world_state.py::test_phases_are_uniform_unless_given",
    ),
    Fault(
        "items arrive a tenth too seldom",
        "simulation/world_items.py",
        "rng.exponential(churn.every / churn.arrivals,",
        "rng.exponential(1.1 * churn.every / churn.arrivals,",
        "tests/simulation/test_world_items.py::test_arrivals_are_a_poisson_process",
    ),
    Fault(
        "items leave a tenth too soon",
        "simulation/world_items.py",
        "rng.geometric(1.0 / churn.lifetime, items)",
        "rng.geometric(1.1 / churn.lifetime, items)",
        "tests/simulation/test_world_items.py::test_as_many_are_there_as_come_in_a_lifetime",
    ),
    Fault(
        "lifetimes are of one length",
        "simulation/world_items.py",
        "rng.geometric(1.0 / churn.lifetime, items)",
        "np.full(items, round(churn.lifetime)) + rng.integers(-1, 2, items)",
        "tests/simulation/test_world_items.py::test_lifetimes_are_geometric",
    ),
    Fault(
        "segments agree less than they should",
        "simulation/world_items.py",
        "math.sqrt(agreement) * rows[0] + math.sqrt(1.0 - agreement) * rows[1:]",
        "agreement * rows[0] + math.sqrt(1.0 - agreement**2) * rows[1:]",
        "tests/simulation/test_world_items.py::test_attractiveness_is_log_normal_and_segments_agree[0.6]",
    ),
    Fault(
        "features explain less than they should",
        "simulation/world_items.py",
        "math.sqrt(churn.explained) * _agreeing(",
        "churn.explained * _agreeing(",
        "tests/simulation/test_world_items.py::test_features_explain_their_part[0.5-3]",
    ),
    Fault(
        "weights of features seem better known than they are",
        "posterior/feature_regression.py",
        "inverse_root(fit.factor, 1.0, fit.root)",
        "inverse_root(fit.factor, 0.6, fit.root)",
        "tests/posterior/test_feature_regression.py::test_weights_of_features_are_found_within_their_stated_error",
    ),
    Fault(
        "the uncertainty of attractiveness is left out of the Bayes factor",
        "posterior/pair_effects.py",
        "(similarity + n - 0.5) * math.log(similarity + e)",
        "(similarity + n + 0.5) * math.log(similarity + e)",
        "tests/posterior/test_pair_effects.py::test_the_evidence_is_the_bayes_factor_of_the_clicks",
    ),
    Fault(
        "the test of slots and items never fires",
        "posterior/pair_effects.py",
        "is_wrong = pairs.evidence > -math.log(FALSE_ALARMS)",
        "is_wrong = pairs.evidence > 1e9",
        "tests/posterior/test_pair_effects.py::test_slots_that_favour_some_items_are_noticed_with_their_spread",
    ),
    Fault(
        "effects of pairs do not widen the posterior",
        "posterior/pair_effects.py",
        "weight = pairs.similarity / (pairs.similarity + e) if pairs.is_used else 1.0",
        "weight = 1.0",
        "tests/posterior/test_pair_effects.py::test_intervals_are_wider_and_cover_if_the_model_is_wrong",
    ),
    Fault(
        "crowds seem a little more alike than they are",
        "posterior/hyperparameters.py",
        "own + counts.clicks[IN_USE, segment, item], own + segments.level[item] * mean * exposure",
        "own + counts.clicks[IN_USE, segment, item], own + 0.95 * segments.level[item] * mean * exposure",
        "tests/posterior/test_hyperparameters.py::test_the_similarity_of_segments_is_the_fixed_point_of_em",
    ),
    Fault(
        "weights are drawn in by a ridge that hardly looks at what they are",
        "posterior/feature_regression.py",
        "likely += 0.5 * pull[column] * solution[column]",
        "likely += 0.3 * pull[column] * solution[column]",
        "tests/posterior/test_feature_regression.py::test_the_ridge_has_the_average_variance_of_weights_given_the_clicks",
    ),
    Fault(
        "features are relied on however little they say",
        "posterior/feature_regression.py",
        "likely -= fit.pull[column] * fit.weights[column]",
        "likely -= 0.5 * fit.pull[column] * fit.weights[column]",
        "tests/posterior/test_feature_regression.py::test_the_fit_with_the_larger_marginal_likelihood_is_used[0.4]",
    ),
    Fault(
        "how crowds differ makes items seem to be what features say",
        "posterior/feature_regression.py",
        "part = evidence_part(items, segments, segment, item)",
        "part, seen = 1.0, segments.exposure[segment, item] * segments.deviation[segment, item]",
        "tests/posterior/test_feature_regression.py::test_several_segments_do_not_bias_the_shape",
    ),
    Fault(
        "nothing holds the shape where there is nothing to learn it by",
        "posterior/feature_regression.py",
        "return total * shape - log_shape / LOG_SHAPE_SD**2",
        "return total * shape - 0.5",
        "tests/posterior/test_feature_regression.py::test_the_shape_is_about_1_where_there_is_nothing_to_learn_it_by",
    ),
    Fault(
        "items seem closer to what features say than they are",
        "posterior/feature_regression.py",
        "total -= 0.5 * (expected / both) ** 2 * room[2, item]",
        "total -= 0.0",
        "tests/posterior/test_feature_regression.py::test_the_shape_is_where_clicks_are_likeliest",
    ),
    Fault(
        "a round counts as a little more of a pass than it is worth",
        "posterior/counts.py",
        "        weight = 1.0 / total\n",
        "        weight = 1.02 / total\n",
        "tests/posterior/test_hyperparameters.py::test_soft_passes_at_the_truth_are_rounds_over_one_plus_the_sum",
    ),
    Fault(
        "lists are weighed as if a visitor always looked at one item less",
        "posterior/counts.py",
        "for slot in range(lists.shape[1] - 1):",
        "for slot in range(1, lists.shape[1] - 1):",
        "tests/posterior/test_hyperparameters.py::test_soft_passes_settle_at_the_joint_maximum",
    ),
    Fault(
        "counts fade by whole periods, whatever was in one",
        "posterior/forgetting.py",
        "0.5 ** (rounds / forgetting.half_lives[0])",
        "0.5 ** (forgetting.period / forgetting.half_lives[0])",
        "tests/posterior/test_forgetting.py::test_counts_decay_as_if_periods_were_weighted_by_hand[70.0]",
    ),
    Fault(
        "counts are dropped without a reason",
        "posterior/taste_changes.py",
        "return math.log(changes.age / FALSE_ALARMS)",
        "return -math.log(changes.age / FALSE_ALARMS)",
        "tests/posterior/test_taste_changes.py::test_auto_is_identical_to_none_until_something_changes[soft]",
    ),
    Fault(
        "a small wave is taken for a break",
        "posterior/taste_changes.py",
        "return in_use if is_drifting else unchanged",
        "return -1e9",
        "tests/posterior/test_taste_changes.py::test_a_small_wave_is_drift_and_not_a_break",
    ),
    Fault(
        "after a break the posterior explores no more than before",
        "posterior/taste_changes.py",
        "decay(counts, forgetting.weights, max(0, window), window >= 0)",
        "decay(counts, forgetting.weights, max(0, window), False)",
        "tests/posterior/test_taste_changes.py::test_after_a_break_only_the_counts_since_are_left",
    ),
    Fault(
        "what is in flight is taken for passes",
        "posterior/sampling.py",
        "            shape *= narrowed\n",
        "",
        "tests/posterior/test_factory.py::test_pending_rounds_narrow_the_posterior_and_keep_its_mean",
    ),
    Fault(
        "the bias is drawn with a fifth too little spread for pages as they are",
        "posterior/sampling.py",
        "drawn += bias.root[slot, other] * noise[other]",
        "drawn += 0.8 * bias.root[slot, other] * noise[other]",
        "tests/posterior/test_factory.py::test_draws_have_the_mode_and_covariance_of_the_bias",
    ),
    Fault(
        "the weights of features are drawn with half their spread",
        "posterior/sampling.py",
        "drawn += fit.root[column, other] * noise[other]",
        "drawn += 0.5 * fit.root[column, other] * noise[other]",
        "tests/posterior/test_factory.py::test_a_new_item_starts_at_the_prediction_of_its_features[1]",
    ),
    Fault(
        "an item's level seems as well known as if crowds were one",
        "posterior/feature_regression.py",
        "segments.evidence_clicks[item] += part * clicks",
        "segments.evidence_clicks[item] += clicks",
        "tests/posterior/test_factory.py::test_the_level_of_an_item_has_its_posterior_with_deviations_integrated_out",
    ),
    Fault(
        "attractiveness is not drawn but at its mean",
        "policies/thompson_sampling.py",
        "drawn = rng.standard_gamma(boldness * posterior.shape[item])",
        "drawn = boldness * posterior.shape[item]",
        "tests/policies/test_thompson_sampling.py::test_items_are_shown_as_often_as_a_draw_has_them_best[1.0]",
    ),
    Fault(
        "draws of attractiveness ignore the boldness",
        "policies/thompson_sampling.py",
        "boldness = policy.boldness",
        "boldness = 1.0",
        "tests/policies/test_thompson_sampling.py::test_items_are_shown_as_often_as_a_draw_has_them_best[4.0]",
    ),
    Fault(
        "draws of the position bias and the weights of features ignore the boldness",
        "posterior/factory.py",
        "spread=boldness**-0.5",
        "spread=1.0",
        "tests/posterior/test_factory.py::test_bold_draws_are_as_narrow_as_with_more_evidence[4.0]",
    ),
    Fault(
        "of equal newcomers all are kept",
        "posterior/cold_start_cap.py",
        "index[item] > least or (index[item] == least and slot <= last)",
        "index[item] >= least",
        "tests/posterior/test_cold_start_cap.py::test_new_items_take_their_part_in_the_long_run_and_no_more",
    ),
    Fault(
        "features of segments and items together teach nothing",
        "posterior/feature_regression.py",
        "_score_cells(counts, items, segments, fit)\n    for",
        "pass\n    for",
        "tests/posterior/test_factory.py::test_an_item_starts_at_the_prediction_of_its_features_in_the_segment",
    ),
    Fault(
        "crowds are taken to be twice as alike as they are",
        "posterior/sampling.py",
        "        prior = segments.similarity\n",
        "        prior = 2.5 * segments.similarity\n",
        "research/tests/test_calibration.py"
        "::test_the_truth_ranks_nearly_uniformly_with_approximated_segments_and_features[crowds]",
    ),
    Fault(
        "features seem to say more than they do",
        "posterior/feature_regression.py",
        "inverse_root(fit.factor, 1.0, fit.root)",
        "inverse_root(fit.factor, 0.6, fit.root)",
        "research/tests/test_calibration.py"
        "::test_the_truth_ranks_nearly_uniformly_with_approximated_segments_and_features[features]",
    ),
    Fault(
        "soft passes leave out what they are for",
        "posterior/counts.py",
        "passes[segment, item, slot] += rounds / total",
        "passes[segment, item, slot] += rounds / total**0.5",
        "research/tests/test_calibration.py::test_soft_passes_are_less_too_sure_where_most_visits_click",
    ),
    Fault(
        "connections that take too long are left open",
        "service/http/connection_limits.py",
        "elif now - self._since >= seconds:",
        "elif now - self._since >= 1e9 * seconds:",
        "tests/service/http/test_connection_limits.py::test_a_connection_may_take_its_time_and_no_longer",
    ),
    Fault(
        "a body in tiny chunks is read as fast as it comes",
        "service/http/connection_limits.py",
        "elif self._events > MAX_EVENTS or self._pieces > MAX_EVENTS:",
        "elif self._events > 1_000_000 * MAX_EVENTS:",
        "tests/service/http/test_reading_turns.py::test_others_have_their_turn_after_a_few_chunks",
    ),
    Fault(
        "a body is read to its end before it is found to be too large",
        "service/http/endpoint.py",
        "if size > max_bytes or (not is_complete and _announced(scope) > max_bytes):",
        "if size > max_bytes and is_complete:",
        "tests/service/http/test_connection_limits.py"
        "::test_a_large_body_is_refused_before_it_is_whole_and_its_sender_sees_why",
    ),
    Fault(
        "a page of another port of this machine may ask",
        "service/http/middleware/auth.py",
        '.decode("latin-1").lower()).netloc != host',
        '.decode("latin-1").lower()).hostname != host.partition(":")[0]',
        "tests/service/http/test_security.py::test_without_a_key_other_pages_may_only_report",
    ),
    Fault(
        "a name of somebody else's that was made to point here is answered",
        "service/http/middleware/auth.py",
        'return host != "" and not is_loopback(name.rstrip("."))',
        "return False",
        "tests/service/http/test_security.py::test_without_a_key_no_other_name_is_answered",
    ),
    Fault(
        "an outcome is late if the deadline passes while it is being written",
        "service/runtime/worker.py",
        "return receipt if now < read.deadline else",
        "return receipt if self._clock() < read.deadline else",
        "tests/service/runtime/test_worker.py::test_the_verdict_is_that_of_the_moment_an_outcome_arrived",
    ),
    Fault(
        "what was refused because it waited too long is written nevertheless",
        "service/storage/batch_writer.py",
        "            if batch.take():\n                self._resolve(",
        "            if not batch.is_taken():\n                self._resolve(",
        "tests/service/storage/test_batch_writer.py::test_a_write_that_waits_too_long_is_rejected_and_never_written",
    ),
    Fault(
        "a decision that was refused counts where its commit was not answered",
        "service/storage/batch_writer.py",
        "self._doubtful = [work for work, _ in issuing if work.once is None]",
        "self._doubtful = []",
        "tests/service/storage/test_batch_writer.py::test_a_rejected_decision_that_was_written_counts_as_not_shown",
    ),
    Fault(
        "a write-ahead log that is deleted is not missed",
        "service/storage/sqlite.py",
        'for end in ("", "-wal", "-shm"))',
        'for end in ("",))',
        "tests/service/storage/test_store.py::test_a_log_that_is_deleted_during_a_transaction_takes_nothing",
    ),
    Fault(
        "a key that was used for another request is the same decision",
        "service/storage/sql_store.py",
        "return before if request == decision.once.request else",
        "return before if request else",
        "tests/service/http/test_once.py::test_a_key_that_was_used_for_another_request_is_refused[sqlite-wish1]",
    ),
    Fault(
        "an event is counted again when it is reported again",
        "service/storage/outcome_rules.py",
        "if len(events) == len(self.events):",
        "if not events:",
        "tests/service/http/test_events.py::test_a_later_event_changes_the_value_of_its_item_once_and_no_count[sqlite]",
    ),
    Fault(
        "an event after the count does not change the value of a click",
        "service/storage/accumulator.py",
        "pair[VALUE] += value\n            pair[SQUARES] += squares",
        "pair[SHOWS] += 0",
        "tests/service/http/test_events.py::test_items_are_ranked_by_what_their_clicks_bring_later[sqlite]",
    ),
    Fault(
        "a guardrail is broken as soon as its estimate is",
        "service/reports/guardrails.py",
        "if ratio.anytime.high < bound:",
        "if ratio.estimate < bound:",
        "tests/service/reports/test_guardrails.py"
        "::test_the_verdict_is_by_the_anytime_valid_interval[sqlite-unclear-False]",
    ),
    Fault(
        "a list that is shown again has the propensities of one that was not",
        "service/storage/decision_log.py",
        '"AND decisions.list_of IS NULL",',
        '"",',
        "tests/service/placements/test_propensities.py::test_a_list_shown_again_keeps_its_propensities",
    ),
    Fault(
        "an interval forgets that it may be looked at again",
        "service/reports/ab_test.py",
        "math.sqrt((1.0 + 1.0 / narrowest) * (math.log1p(narrowest) + twice))",
        "NormalDist().inv_cdf(0.5 + LEVEL / 2)",
        "tests/service/reports/test_ab_test.py::test_repeated_looks_keep_the_level_only_with_the_anytime_interval",
    ),
    Fault(
        "strata are merged into one, so nothing is adjusted for",
        "service/reports/ab_test.py",
        "if merged and merged[-1].views < enough:",
        "if merged:",
        "tests/service/reports/test_ab_test.py"
        "::test_an_adjusted_interval_keeps_its_level_and_is_narrower_where_segments_differ",
    ),
    Fault(
        "arms are compared although their shares have changed",
        "service/reports/ab_test.py",
        "compared = [stratum for stratum in strata if stratum.can_be_compared]",
        "strata = list(strata)\n"
        "    together = (sum((getattr(one, arm) for one in strata), Sums()) for arm in ('learned', 'holdout'))\n"
        "    compared = [one for one in [HoldoutStratum(*together)] if one.can_be_compared]",
        "tests/service/reports/test_ab_test.py::test_a_change_of_the_share_does_not_bias_the_difference",
    ),
    Fault(
        "propensities are of lists that heed no wishes",
        "service/placements/placement_state.py",
        ", exclude=exclude, pin=pin",
        "",
        "tests/service/placements/test_propensities.py::test_items_are_shown_as_often_as_their_propensities",
    ),
    Fault(
        "one draw decides over all slots of a page",
        "click_models/position_based.py",
        """    for slot in range(len(ranking)):
        # a draw for every slot: they are independent
        clicks[slot] = rng.random() < users""",
        """    drawn = rng.random()
    for slot in range(len(ranking)):
        clicks[slot] = drawn < users""",
        "tests/click_models/test_conformance.py::test_drawn_clicks_have_the_law_of_its_clicks[pbm]",
    ),
    Fault(
        "slots are clicked independently, each as often as it should be, where they are not",
        "click_models/mixture_model.py",
        "    if rng.random() < users.share:\n        draw_clicks(users.first, ranking, clicks, rng)\n    else:\n"
        "        draw_clicks(users.second, ranking, clicks, rng)\n",
        "    rates = click_rates(users, ranking)\n    for slot in range(len(ranking)):\n"
        "        clicks[slot] = rng.random() < rates[slot]\n",
        "tests/click_models/test_conformance.py::test_drawn_clicks_have_the_law_of_its_clicks[mixture]",
    ),
    Fault(
        "users look on after a click as if there had been none",
        "click_models/dependent_click.py",
        "looking = rng.random() < users.continuation[slot]",
        "looking = True",
        "tests/click_models/test_conformance.py::test_drawn_clicks_have_the_law_of_its_clicks[dcm]",
    ),
    Fault(
        "users forget where they clicked last",
        "click_models/user_browsing.py",
        "        clicks[slot] = rng.random() < chance\n        if clicks[slot]:\n            last = slot\n",
        "        clicks[slot] = rng.random() < chance\n",
        "tests/click_models/test_conformance.py::test_drawn_clicks_have_the_law_of_its_clicks[ubm]",
    ),
    Fault(
        "the last of several clicks counts",
        "click_models/base.py",
        "    for slot in range(len(clicks)):\n        if clicks[slot]:\n",
        "    for slot in range(len(clicks) - 1, -1, -1):\n        if clicks[slot]:\n",
        "tests/simulation/test_several_clicks.py::test_policies_get_all_clicks_or_else_the_first",
    ),
    Fault(
        "features are shown of the visitor before",
        "research/contextual/contextual_loop.py",
        "        draw_visitor(visits, visit_rng)\n        see_features(policy, visits.features)\n",
        "        see_features(policy, visits.features)\n        draw_visitor(visits, visit_rng)\n",
        "research/tests/test_contextual_loop.py::test_clicks_and_regret_follow_from_the_features_passed_to_the_policy",
    ),
    Fault(
        "PBM-TS keeps draws a little too often",
        "policies/baselines/pbm_ts.py",
        "if math.log(1.0 - rng.random()) <= kept:",
        "if math.log(1.0 - rng.random()) <= kept + 0.5:",
        "tests/policies/baselines/test_pbm_ts.py::test_draws_have_the_density_of_the_posterior",
    ),
    Fault(
        "PBM-PIE looks for rivals among as many items as there are slots",
        "policies/baselines/pbm_pie.py",
        "    for item in range(len(on_page)):\n",
        "    for item in range(len(ranking)):\n",
        "tests/policies/baselines/test_pbm_pie.py::test_every_item_that_may_be_better_is_a_rival",
    ),
    Fault(
        "PB-MHB counts a click for half",
        "policies/baselines/pb_mhb.py",
        "gain += hits * math.log(proposed / now)",
        "gain += 0.5 * hits * math.log(proposed / now)",
        "tests/policies/baselines/test_pb_mhb.py::test_the_chain_has_the_posterior",
    ),
    Fault(
        "PB-MHB forgets that its proposals are cut off at 0 and 1",
        "policies/baselines/pb_mhb.py",
        "gain = math.log(_mass(now, spread) / _mass(proposed, spread))",
        "gain = 0.0",
        "tests/policies/baselines/test_pb_mhb.py::test_without_data_every_value_is_as_likely",
    ),
    Fault(
        "PMED takes the divergence of one slot only",
        "research/pmed/trial_lists.py",
        "            total += trial.weight[item, slot] * d\n",
        "            total += trial.weight[item, slot] * d if slot == 0 else 0.0\n",
        "research/tests/test_trial_lists.py::test_with_two_slots_and_three_items_it_matches_a_grid_of_all_alternatives",
    ),
    Fault(
        "TLR-UCB counts clicks far beyond what its epochs can have",
        "research/further_policies/tlr_ucb.py",
        "if clicks[slot] <= most else 0.0",
        "if clicks[slot] <= 10.0 * most else 0.0",
        "research/tests/test_tlr_ucb.py::test_items_are_ranked_by_the_truncated_regression_and_its_bound",
    ),
    Fault(
        "visitors of a world who clicked always look on",
        "click_models/browsing.py",
        "            looking = continuation[slot] >= 1.0 or (",
        "            looking = True or (",
        "tests/click_models/test_browsing.py::test_sets_of_clicks_have_the_probabilities_of_the_model[dcm]",
    ),
    Fault(
        "the best list of a world is not climbed to",
        "simulation/world_state.py",
        "        if not state.visitors.sorts:\n",
        "        if state.visitors.sorts:\n",
        "tests/simulation/test_visitor_clicks.py::test_the_best_list_of_a_walk_is_found_where_sorting_does_not_do",
    ),
    Fault(
        "a fit reads only the first click where there are several",
        "logs/evaluation/click_model_choice.py",
        "has_several = any(fit.tally.multi_click for fit in largest)",
        "has_several = False",
        "tests/logs/evaluation/test_click_model_choice.py::test_all_clicks_are_read_again_if_some_impressions_have_several",
    ),
    Fault(
        "every placement is divided by the same draws",
        "logs/evaluation/click_model_comparison.py",
        "np.random.default_rng([seed, number])",
        "np.random.default_rng([seed, 0])",
        "tests/logs/evaluation/test_click_model_comparison.py::test_placements_have_draws_of_their_own",
    ),
    Fault(
        "marks of clicks are taken for clicks in that order",
        "logs/reading/layout.py",
        "return not self._marks_clicks",
        "return True",
        "tests/logs/test_nasty_logs.py::test_nasty_logs[several clicks as flags, which have no order]",
    ),
    Fault(
        "what a log has counted is as old as the store",
        "service/placements/warm_start.py",
        "hour_of(now if part.time is None else part.time)",
        "hour_of(now)",
        "tests/service/test_commands.py::test_a_log_in_which_nothing_changed_is_not_forgotten",
    ),
]


# of the session, as what a module makes is made by one worker alone
@pytest.fixture(scope="session")
def fork() -> Iterator[Forking]:
    with forking() as made:
        yield made


def test_every_fault_is_in_existing_code_and_has_a_test() -> None:
    """That each is noticed takes long to see; that it can be put in and looked for does not."""
    for fault in FAULTS:
        sources = ROOT if fault.file.startswith("research/") else ROOT / "src" / "slotwise"
        assert (sources / fault.file).read_text().count(fault.sound) == 1, fault.what
        file, _, name = fault.test.partition("::")
        assert f"def {name.partition('[')[0]}(" in (ROOT / file).read_text(), fault.test


@pytest.mark.long
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.what)
def test_a_fault_is_noticed(tmp_path: Path, fork: Forking, fault: Fault) -> None:
    shutil.copytree(ROOT / "src" / "slotwise", tmp_path / "slotwise", copy_function=_link)
    for folder in ("tests", "research"):
        shutil.copytree(ROOT / folder, tmp_path / folder, copy_function=_link)
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    source = (tmp_path if fault.file.startswith("research/") else tmp_path / "slotwise") / fault.file
    text = source.read_text()
    assert text.count(fault.sound) == 1
    # not into it, which may be a link to the sound one
    source.unlink()
    source.write_text(text.replace(fault.sound, fault.broken))
    # a process that ends anyway need not collect its garbage
    arguments = ("-q", "-x", "-p", "no:cacheprovider", "-p", "no:unraisableexception", fault.test)
    code, said = _compiled(tmp_path, *arguments) if fault.compiled else fork.pytest(tmp_path, *arguments)
    assert code == 1, said
    assert "AssertionError" in said or "DID NOT RAISE" in said


def _link(source: str, copy: str) -> None:
    """A thousand files are soon linked; what is written anew, as bytecode is, leaves the linked file as it was."""
    try:
        os.link(source, copy)
    except OSError:
        shutil.copy2(source, copy)


def _compiled(folder: Path, *arguments: str) -> tuple[int, str]:
    """The same in a process of its own, as what is compiled is so for good."""
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *arguments],
        env={
            **os.environ,
            "PYTHONPATH": str(folder),
            "XDG_CACHE_HOME": str(folder / "cache"),
            # one test needs no plugin, and to load them all takes longer than most of these tests
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        },
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr
